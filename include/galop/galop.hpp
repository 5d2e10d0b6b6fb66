// Everything of Galop's C++ interface.
#pragma once

#include "galop/array.hpp"
#include "galop/create.hpp"
#include "galop/device.hpp"
#include "galop/engine.hpp"
#include "galop/io.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"
#include "galop/random.hpp"
#include "galop/reduce.hpp"
#include "galop/ufunc.hpp"
