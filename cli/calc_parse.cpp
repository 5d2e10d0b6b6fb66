// A scanner and a parser by precedence, with Python's levels: comparison, |, ^, &, shifts, sums, products, signs,
// powers.
#include "calc_parse.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace galop::cli {
namespace {

struct Token {
  enum Kind { number, string, name, op, end } kind = end;
  std::string text;
  Span at;
};

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  std::vector<Token> scan() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      const std::size_t begin = at_;
      if (at_ == text_.size()) {
        tokens.push_back({Token::end, "", {begin, begin}});
        return tokens;
      }
      const Token::Kind kind = step();
      tokens.push_back({kind, text_.substr(begin, at_ - begin), {begin, at_}});
    }
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void digits() {
    while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) ++at_;
  }

  Token::Kind step() {
    const char c = peek();
    if (starts_name(c)) {
      while (starts_name(peek()) || is_digit(peek())) ++at_;
      return Token::name;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') {
      const std::size_t close = text_.find(c, at_ + 1);
      if (close == std::string::npos) throw CalcError("the string has no end", {at_, text_.size()});
      at_ = close + 1;
      return Token::string;
    }
    for (const std::string_view op : {"...", "**", "//", "<<", ">>", "<=", ">=", "==", "!="}) {
      if (text_.compare(at_, op.size(), op) != 0) continue;
      at_ += op.size();
      return Token::op;
    }
    if (std::string_view("+-*/%@&|^~<>()[],=:;").find(c) != std::string_view::npos) {
      ++at_;
      return Token::op;
    }
    std::size_t end = at_ + 1;  // a whole character of UTF-8
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    if (c == '.') throw CalcError("attributes and methods are not known; write f(x) instead of x.f()", {at_, end});
    throw CalcError("this character means nothing here: '" + text_.substr(at_, end - at_) + "'", {at_, end});
  }

  Token::Kind number() {
    const std::size_t begin = at_;
    digits();
    if (peek() == '.') ++at_, digits();
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
      at_ += 2;
      digits();
    }
    if (peek() == 'j' || peek() == 'J') ++at_;
    if (!starts_name(peek())) return Token::number;
    while (starts_name(peek()) || is_digit(peek())) ++at_;
    throw CalcError("this is neither a number nor a name", {begin, at_});
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

using Level = std::vector<std::string_view>;
// From loose to tight; all group from the left. Signs and ** bind tighter still.
const std::array<Level, 7> kLevels = {
    Level{"<", "<=", ">", ">=", "==", "!="}, {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "@", "/", "//", "%"}};
constexpr int kDeepest = 200;  // nested parts; so that no text exhausts the stack

class Parser {
 public:
  explicit Parser(const std::string& text) : tokens_(Scanner(text).scan()) {}

  std::vector<Statement> statements() {
    std::vector<Statement> list;
    while (true) {
      while (accept(";")) {
      }
      if (now().kind == Token::end) return list;
      list.push_back(statement());
      if (is(")") || is("]")) unexpected("nothing is open that this closes");
      refuse_pythons_words();
      if (now().kind != Token::end && !is(";")) unexpected("an operator or ; is missing before this");
    }
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view op) const { return now().kind == Token::op && now().text == op; }
  bool accept(std::string_view op) {
    if (!is(op)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void unexpected(const std::string& what) const { throw CalcError(what, now().at); }

  void refuse_pythons_words() const {
    if (now().kind != Token::name) return;
    for (const char* word : {"and", "or", "not", "if", "else", "in", "is", "lambda", "for"})
      if (now().text == word) unexpected("'" + now().text + "' is not known here; & | ~ and where() work on arrays");
  }

  // The closing bracket of the opening one at `open`.
  std::size_t close(const char* bracket, Span open) {
    if (now().kind == Token::end || is(";"))
      throw CalcError(std::string("this is never closed; ") + bracket + " is missing", open);
    if (!is(bracket)) refuse_pythons_words();
    if (!is(bracket)) unexpected(std::string("expected , or ") + bracket + " here");
    return tokens_[at_++].at.end;
  }

  Statement statement() {
    // `a = …` and `a, b = …`: names and commas up to a single =.
    std::size_t ahead = at_;
    std::vector<std::string> names;
    while (tokens_[ahead].kind == Token::name) {
      names.push_back(tokens_[ahead++].text);
      if (tokens_[ahead].text != ",") break;
      ++ahead;
    }
    Statement s;
    if (!names.empty() && tokens_[ahead].kind == Token::op && tokens_[ahead].text == "=") {
      s.names = names;
      at_ = ahead + 1;
    }
    s.value = items();
    if (is("=")) unexpected("only names can be assigned to; == compares");
    return s;
  }

  // One expression, or a tuple without parentheses.
  NodePtr items() {
    const Span begin = now().at;
    NodePtr first = expression();
    if (!is(",")) return first;
    NodePtr t = make(Node::tuple, "", begin);
    t->kids.push_back(std::move(first));
    while (accept(",")) {
      if (now().kind == Token::end || is(";") || is(")")) break;
      t->kids.push_back(expression());
    }
    t->mark = t->whole = {begin.begin, tokens_[at_ - 1].at.end};
    return t;
  }

  NodePtr make(Node::Kind kind, std::string text, Span at) const {
    return NodePtr(new Node{kind, std::move(text), at, {}, {}, at});
  }

  NodePtr expression() {
    if (++depth_ > kDeepest) unexpected("too many nested parts");
    NodePtr n = level(0);
    --depth_;
    return n;
  }

  NodePtr level(std::size_t i) {
    if (i == kLevels.size()) return sign();
    NodePtr left = level(i + 1);
    for (int count = 0;; ++count) {
      bool found = false;
      for (const std::string_view op : kLevels[i]) found = found || is(op);
      if (!found) return left;
      if (i == 0 && count > 0) unexpected("comparisons do not chain over arrays; write (a < b) & (b < c)");
      const Token op = tokens_[at_++];
      left = binary(op, std::move(left), level(i + 1));
    }
  }

  NodePtr binary(const Token& op, NodePtr left, NodePtr right) {
    NodePtr n = make(Node::binary, op.text, op.at);
    n->whole = {left->whole.begin, right->whole.end};
    n->kids.push_back(std::move(left));
    n->kids.push_back(std::move(right));
    return n;
  }

  NodePtr sign() {
    if (!is("+") && !is("-") && !is("~")) return power();
    if (++depth_ > kDeepest) unexpected("too many nested parts");
    const Token op = tokens_[at_++];
    NodePtr operand = sign();
    --depth_;
    NodePtr n = make(Node::unary, op.text, op.at);
    n->whole.end = operand->whole.end;
    n->kids.push_back(std::move(operand));
    return n;
  }

  NodePtr power() {
    NodePtr base = postfix();
    if (!is("**")) return base;
    if (++depth_ > kDeepest) unexpected("too many nested parts");
    const Token op = tokens_[at_++];
    NodePtr n = binary(op, std::move(base), sign());
    --depth_;
    return n;
  }

  NodePtr postfix() {
    NodePtr n = atom();
    while (true) {
      if (is("(")) {
        if (n->kind != Node::name) unexpected("this is no function, so it cannot be called");
        n = call(*n);
      } else if (is("[")) {
        n = subscript(std::move(n));
      } else {
        return n;
      }
    }
  }

  NodePtr call(const Node& function) {
    const Span open = tokens_[at_++].at;
    NodePtr n = make(Node::call, function.text, function.mark);
    while (!is(")")) {
      if (now().kind == Token::end) break;
      if (now().kind == Token::name && tokens_[at_ + 1].kind == Token::op && tokens_[at_ + 1].text == "=") {
        std::string key = now().text;
        at_ += 2;
        n->keywords.emplace_back(std::move(key), expression());
      } else {
        if (!n->keywords.empty()) unexpected("a positional argument may not follow keyword arguments");
        n->kids.push_back(expression());
      }
      if (!accept(",")) break;
    }
    n->whole.end = close(")", open);
    return n;
  }

  NodePtr subscript(NodePtr base) {
    const Span open = tokens_[at_++].at;
    NodePtr parts = make(Node::tuple, "", open);
    do {
      if (is("]") && !parts->kids.empty()) break;
      parts->kids.push_back(part());
    } while (accept(","));
    const std::size_t end = close("]", open);
    NodePtr n = make(Node::index, "", {open.begin, end});
    n->whole = {base->whole.begin, end};
    n->kids.push_back(std::move(base));
    n->kids.push_back(std::move(parts));
    return n;
  }

  // An expression, or start:stop:step.
  NodePtr part() {
    const Span begin = now().at;
    NodePtr start = is(":") ? nullptr : expression();
    if (!is(":")) return start;
    NodePtr s = make(Node::slice, "", begin);
    s->kids.push_back(std::move(start));
    while (accept(":")) {
      if (s->kids.size() == 3) throw CalcError("a slice has three parts: start:stop:step", tokens_[at_ - 1].at);
      s->kids.push_back(is(":") || is(",") || is("]") ? nullptr : expression());
    }
    s->kids.resize(3);
    s->mark = s->whole = {begin.begin, tokens_[at_ - 1].at.end};
    return s;
  }

  NodePtr atom() {
    const Token t = now();
    switch (t.kind) {
      case Token::end:
        unexpected("the expression ends too early");
      case Token::name:
        refuse_pythons_words();
        ++at_;
        return make(Node::name, t.text, t.at);
      case Token::string:
        ++at_;
        return make(Node::string, t.text.substr(1, t.text.size() - 2), t.at);
      case Token::number: {
        ++at_;
        std::string digits;
        for (const char c : t.text)
          if (c != '_') digits += c;
        if (digits.back() == 'j' || digits.back() == 'J') {
          digits.pop_back();
          return make(Node::imaginary, digits, t.at);
        }
        const bool real = digits.find_first_of(".eE") != std::string::npos;
        return make(real ? Node::real : Node::integer, digits, t.at);
      }
      case Token::op:
        break;
    }
    if (accept("...")) return make(Node::ellipsis, "...", t.at);
    if (accept("(")) {
      if (accept(")")) return make(Node::tuple, "", {t.at.begin, tokens_[at_ - 1].at.end});
      NodePtr n = items();
      n->whole = {t.at.begin, close(")", t.at)};
      return n;
    }
    if (accept("[")) {
      NodePtr n = make(Node::list, "", t.at);
      while (!is("]")) {
        n->kids.push_back(expression());
        if (!accept(",")) break;
      }
      n->mark = n->whole = {t.at.begin, close("]", t.at)};
      return n;
    }
    if (is(")") || is("]")) unexpected("this closes nothing, or a value is missing before it");
    if (is("=") && at_ > 0 && tokens_[at_ - 1].kind == Token::op && tokens_[at_ - 1].at.end == t.at.begin)
      unexpected("assignments with an operator are not known; write a = a + 1 for a += 1");
    unexpected("a value is missing here");
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<Statement> parse(const std::string& text) { return Parser(text).statements(); }

}  // namespace galop::cli
