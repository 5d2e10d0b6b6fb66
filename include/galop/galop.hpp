// Everything of Galop's C++ interface but galop/fmt.hpp, which needs {fmt}.
#pragma once

#include "galop/array.hpp"
#include "galop/create.hpp"
#include "galop/device.hpp"
#include "galop/elements.hpp"
#include "galop/engine.hpp"
#include "galop/errstate.hpp"
#include "galop/io.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"
#include "galop/math.hpp"
#include "galop/print.hpp"
#include "galop/random.hpp"
#include "galop/reduce.hpp"
#include "galop/ufunc.hpp"
