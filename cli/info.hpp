// `galop info`: what this machine offers and what galop makes of it.
#pragma once

namespace galop::cli {

/// Prints the report, as JSON if asked; returns the exit status.
int info(bool json);

}  // namespace galop::cli
