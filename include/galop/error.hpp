// Galop's exceptions: one C++ class for each of Python's that NumPy raises.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace galop {

/// Base of all errors that Galop raises. Messages read `[op] what; got …`.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes that do not fit, bad axes or values: Python's ValueError.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// A dtype that an operation does not take, a cast that is not allowed: Python's TypeError.
class TypeError : public Error {
 public:
  using Error::Error;
};

/// An index out of bounds or of a wrong kind: Python's IndexError.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// An axis out of bounds: numpy.exceptions.AxisError, which is a ValueError and an IndexError in Python.
class AxisError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// A division that has no result: a step, weights or a number of parts that are zero: Python's ZeroDivisionError.
class ZeroDivisionError : public Error {
 public:
  using Error::Error;
};

/// A Python integer that does not fit the dtype: Python's OverflowError.
class OverflowError : public Error {
 public:
  using Error::Error;
};

/// No memory for an array; the message names the bytes: Python's MemoryError.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// An export that would need a copy: Python's BufferError.
class BufferError : public Error {
 public:
  using Error::Error;
};

/// A device that is missing, cannot be used or has failed: Python's galop.DeviceError, a RuntimeError.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A file that the system does not let be opened, read or written: Python's OSError, of the kind that errno `code()`
/// names.
class FileError : public Error {
 public:
  FileError(int code, std::string file, const std::string& message)
      : Error(message), code_(code), file_(std::move(file)) {}
  int code() const { return code_; }
  const std::string& file() const { return file_; }

 private:
  int code_;
  std::string file_;
};

/// Work that an interrupt check (galop/engine.hpp) has ended: Python's KeyboardInterrupt. No Error, so that who catches
/// those does not stop it on its way.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "[galop] interrupted"; }
};

}  // namespace galop
