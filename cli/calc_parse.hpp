// The expressions of `galop calc`: Python's, as far as they make sense for arrays, as a tree that knows its places.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace galop::cli {

/// A range of bytes in the text, [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What is wrong, and where in the text.
class CalcError : public std::runtime_error {
 public:
  CalcError(const std::string& what, Span where_) : std::runtime_error(what), where(where_) {}
  Span where;
};

struct Node;
using NodePtr = std::unique_ptr<Node>;

/// One part of an expression. `mark` is what an error points at: an operator, the name of a call.
struct Node {
  enum Kind {
    integer,    // text: decimal digits
    real,       // text
    imaginary,  // text without the j
    string,     // text without quotes
    name,       // text
    tuple,      // kids
    list,       // kids
    slice,      // kids: start, stop, step; null where left out
    ellipsis,
    unary,   // text: + - ~; kids[0]
    binary,  // text: operator; kids[0], kids[1]
    call,    // text: function; kids: positional arguments; keywords
    index,   // kids[0][kids[1]]
  } kind;
  std::string text;
  Span mark;
  std::vector<NodePtr> kids;
  std::vector<std::pair<std::string, NodePtr>> keywords = {};
  Span whole = {};
};

/// `names = value`, or a value alone when there are no names.
struct Statement {
  std::vector<std::string> names;
  NodePtr value;
};

/// Statements separated by `;`. Throws CalcError.
std::vector<Statement> parse(const std::string& text);

}  // namespace galop::cli
