// Finds NVIDIA's libraries where a system, a toolkit or the nvidia-* wheels put them.
#pragma once

#include <string>

namespace galop::cuda {

/// A library that is opened on first use.
struct NvidiaLibrary {
  const char* file;      // "libnvrtc.so.13"
  const char* variable;  // of the environment, naming the library's path: "GALOP_NVRTC"
  const char* folder;    // of its own wheel below site-packages/nvidia, besides that of CUDA 13: "cuda_nvrtc"
  const char* package;   // "nvidia-cuda-nvrtc"
};

/// Opens it from, in this order: the path in its variable; the loader's search path; CUDA_HOME and CUDA_PATH; the
/// wheels beside this plug-in, in the folders of GALOP_NVIDIA_WHEELS (site-packages folders with colons between) and in
/// VIRTUAL_ENV; toolkits below /usr/local. Null when it is nowhere, with a sentence in `reason` that names the command
/// that installs it. Never closed.
void* open_library(const NvidiaLibrary& library, std::string& reason);

}  // namespace galop::cuda
