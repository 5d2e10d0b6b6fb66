// Shapes in words.
#include "galop/shape.hpp"

namespace galop {

std::string to_string(const Dims& d) {
  std::string s = "(";
  for (int i = 0; i < d.size(); ++i) {
    if (i > 0) s += ", ";
    s += std::to_string(d[i]);
  }
  return s + (d.size() == 1 ? ",)" : ")");
}

}  // namespace galop
