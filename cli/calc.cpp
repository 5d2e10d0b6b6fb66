// Walks the trees of calc_parse; nothing large is computed before it is printed or written, so that it fuses.
#include "calc.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>

#include "calc_files.hpp"
#include "calc_functions.hpp"
#include "calc_parse.hpp"
#include "calc_values.hpp"
#include "ctrl_c.hpp"
#include "galop/error.hpp"
#include "progress.hpp"

namespace galop::cli {
namespace {

using Variables = std::map<std::string, Value>;

// An option that is wrong, or a file.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Evaluator {
 public:
  explicit Evaluator(Variables& variables) : variables_(variables) {}

  Value value(const Node& n) const {
    switch (n.kind) {
      case Node::integer: {
        errno = 0;
        const long long v = std::strtoll(n.text.c_str(), nullptr, 10);
        if (errno != 0) throw CalcError("integers end at 64 bits here; write a number with a point", n.mark);
        return scalar(v);
      }
      case Node::real:
        return scalar(std::strtod(n.text.c_str(), nullptr));
      case Node::imaginary:
        return scalar(std::complex<double>(0, std::strtod(n.text.c_str(), nullptr)));
      case Node::string:
        return n.text;
      case Node::name:
        return named(n);
      case Node::ellipsis:
        return ellipsis;
      case Node::tuple:
      case Node::list: {
        Sequence s{{}, n.kind == Node::list};
        for (const NodePtr& kid : n.kids) s.items.push_back(value(*kid));
        return s;
      }
      case Node::slice:
        return slice(bound(n.kids[0].get()), bound(n.kids[1].get()), bound(n.kids[2].get()));
      case Node::unary: {
        const Value x = value(*n.kids[0]);
        return marked(n.mark, [&] { return unary(n.text, x); });
      }
      case Node::binary: {
        const Value x = value(*n.kids[0]), y = value(*n.kids[1]);
        return marked(n.mark, [&] { return binary(n.text, x, y); });
      }
      case Node::index: {
        const Value x = value(*n.kids[0]);
        std::vector<Value> parts;
        for (const NodePtr& kid : n.kids[1]->kids) parts.push_back(value(*kid));
        return marked(n.mark, [&] { return subscript(x, parts); });
      }
      case Node::call:
        return called(n);
    }
    return {};
  }

 private:
  template <class F>
  static Value marked(Span place, F&& f) {
    try {
      return f();
    } catch (const Interrupted&) {
      throw;
    } catch (const CalcError&) {
      throw;
    } catch (const std::exception& error) {
      throw CalcError(error.what(), place);
    }
  }

  [[noreturn]] void unknown(const Node& n) const {
    std::vector<std::string> names = known_names();
    for (const auto& [name, v] : variables_) names.push_back(name);
    const std::string near = nearest(n.text, names);
    throw CalcError("the name '" + n.text + "' is not known" + (near.empty() ? "" : "; is '" + near + "' meant?"),
                    n.mark);
  }

  Value named(const Node& n) const {
    if (const auto found = variables_.find(n.text); found != variables_.end()) return found->second;
    if (const Value* v = find_constant(n.text)) return *v;
    if (find_function(n.text) != nullptr)
      throw CalcError("'" + n.text + "' is a function; its arguments are missing: " + n.text + "(...)", n.mark);
    unknown(n);
  }

  Value called(const Node& n) const {
    const Function* f = find_function(n.text);
    if (variables_.contains(n.text) || (f == nullptr && find_constant(n.text) != nullptr))
      throw CalcError("'" + n.text + "' is no function", n.mark);
    if (f == nullptr) unknown(n);
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> keywords;
    for (const NodePtr& kid : n.kids) positional.push_back(value(*kid));
    for (const auto& [key, kid] : n.keywords) keywords.emplace_back(key, value(*kid));
    return marked(n.mark, [&] { return call(n.text, *f, positional, keywords); });
  }

  std::optional<std::int64_t> bound(const Node* n) const {
    if (n == nullptr) return {};
    const Value v = value(*n);
    if (v.is_none()) return {};
    if (v.number() != nullptr && v.number()->kind() == 'i') return v.number()->integer();
    if (const array* a = v.as_array(); a != nullptr && a->ndim() == 0 && is_integer(a->dtype()))
      return a->item<std::int64_t>();
    throw CalcError("the bounds of a slice are integers; got " + describe(v), n->whole);
  }

  Variables& variables_;
};

// A bar that appears when the work has taken a second. It counts statements and results, since one kernel has no parts
// that are known outside.
class Bar {
 public:
  explicit Bar(int steps) : steps_(steps), thread_([this] { draw(); }) {}
  ~Bar() { finish(); }

  void say(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
  }
  void step() {
    const std::lock_guard lock(mutex_);
    ++done_;
  }
  /// Wipes the bar away, before something is printed.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void draw() {
    using namespace std::chrono_literals;
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, 1s, [this] { return ended_; })) return;
    Progress progress(steps_);
    int drawn = 0;
    do {
      for (; drawn < done_; ++drawn) progress.step();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      progress.say(fmt::format("{}, {:.1f} s", what_, taken.count()));
    } while (!wake_.wait_for(lock, 100ms, [this] { return ended_; }));
  }

  const int steps_;
  int done_ = 0;
  bool ended_ = false;
  std::string what_ = "computing";
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

// The line of `text` that the error is in, and a caret line below it; columns count characters, not bytes.
void print_error(const std::string& text, const CalcError& error) {
  const Span at = error.where;
  std::size_t begin = text.rfind('\n', at.begin == 0 ? 0 : at.begin - 1);
  begin = begin == std::string::npos || begin >= at.begin ? 0 : begin + 1;
  const std::size_t end = std::min(text.find('\n', at.begin), text.size());
  const auto columns = [&](std::size_t from, std::size_t to) {
    std::size_t n = 0;
    for (std::size_t i = from; i < to && i < text.size(); ++i)
      n += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    return n;
  };
  const std::size_t wide = std::max<std::size_t>(columns(at.begin, std::min(at.end, end)), 1);
  fmt::print(stderr, "galop: {}\n  {}\n  {}^{}\n", error.what(), text.substr(begin, end - begin),
             std::string(columns(begin, at.begin), ' '), std::string(wide - 1, '~'));
}

// Runs statements; the value of the last one. Throws CalcError.
Value run(const std::string& text, Variables& variables, Bar* bar) {
  Value last;
  for (const Statement& s : parse(text)) {
    last = Evaluator(variables).value(*s.value);
    if (s.names.size() == 1) variables[s.names[0]] = last;
    if (s.names.size() > 1) {
      const Sequence* parts = last.sequence();
      if (parts == nullptr || parts->items.size() != s.names.size())
        throw CalcError(fmt::format("{} names need as many values; got {}", s.names.size(),
                                    parts == nullptr ? describe(last) : std::to_string(parts->items.size())),
                        s.value->whole);
      const Sequence copy = *parts;
      for (std::size_t i = 0; i < s.names.size(); ++i) variables[s.names[i]] = copy.items[i];
    }
    if (bar != nullptr) bar->step();
  }
  return last;
}

std::string trimmed(const std::string& s) {
  const auto first = s.find_first_not_of(" \t\n"), last = s.find_last_not_of(" \t\n");
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

std::pair<std::string, std::string> split(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  std::pair<std::string, std::string> parts = {trimmed(text.substr(0, equals)),
                                               equals == std::string::npos ? "" : trimmed(text.substr(equals + 1))};
  const bool is_name = !parts.first.empty() && parts.first.find_first_not_of(
                                                   "abcdefghijklmnopqrstuvwxyz"
                                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string::npos;
  if (!is_name || parts.second.empty() || (parts.first[0] >= '0' && parts.first[0] <= '9'))
    throw UsageError(fmt::format("{} takes NAME=...; got '{}'", option, text));
  return parts;
}

// A file of a kind that is not read, or a misspelt one: no expression ends in a point and letters.
bool is_misnamed_file(const std::string& text) {
  const auto point = text.rfind('.');
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  return point != std::string::npos && text.size() - point > 2 && !is_file_name(text) &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(point) + 1, text.end(), is_letter) &&
         text.find_first_of(" ()[]*+,") == std::string::npos;
}

const Value& find(const std::string& option, const std::string& name, const Variables& variables) {
  if (const auto found = variables.find(name); found != variables.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, v] : variables) names.push_back(known);
  const std::string near = nearest(name, names);
  throw UsageError(fmt::format("{} asks for '{}', which nothing assigns{}", option, name,
                               near.empty() ? "" : "; is '" + near + "' meant?"));
}

template <class F>
auto with_file(F&& f) {
  try {
    return f();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

int calc(const CalcOptions& options) {
  const CtrlC ctrl_c;
  const std::string* text = &options.expression;  // what is at work, for the caret line
  try {
    std::vector<std::pair<std::string, std::string>> outs;
    bool writes_last = false;
    for (const std::string& out : options.outs) {
      const bool is_last = out.find('=') == std::string::npos;
      outs.push_back(is_last ? std::pair<std::string, std::string>{"", trimmed(out)} : split("--out", out));
      writes_last |= is_last;
      if (!is_file_name(outs.back().second))
        throw UsageError("--out writes files that end in .npy or .csv; got '" + outs.back().second + "'");
    }
    Variables variables;
    const auto count = [](const auto& list) { return static_cast<int>(std::size(list)); };
    const auto parsed = parse(options.expression);
    const int statements = count(parsed);
    if (statements == 0) throw UsageError("the expression is empty");
    if (!outs.empty() && !writes_last && options.print.empty() && parsed.back().names.empty())
      throw UsageError(
          fmt::format("the last value has no name, so nothing would write it; '{0} = ...' gives it one, or "
                      "--out {1} writes it",
                      outs[0].first, outs[0].second));
    const bool last_only = options.print.empty() && outs.empty();
    Bar bar(count(options.lets) + statements + count(outs) + (last_only ? 1 : count(options.print)));
    for (const std::string& let : options.lets) {
      const auto [name, value] = split("--let", let);
      bar.say(name);
      if (is_misnamed_file(value)) throw UsageError("--let reads files that end in .npy or .csv; got '" + value + "'");
      if (is_file_name(value)) {
        variables[name] = with_file([&, file = value] { return read_file(file); });
      } else {
        text = &let;
        run(let, variables, nullptr);
      }
      bar.step();
    }
    text = &options.expression;
    bar.say("computing");
    const Value last = run(options.expression, variables, &bar);

    std::string printed;
    for (const std::string& name : options.print) {
      bar.say(name);
      const std::string value = text_of(find("--print", name, variables));
      printed += (options.print.size() > 1 ? name + " =" + (value.find('\n') == std::string::npos ? " " : "\n") : "") +
                 value + "\n";
      bar.step();
    }
    if (last_only) printed = text_of(last) + "\n";
    for (const auto& [name, file] : outs) {
      bar.say(file);
      const array a = to_array(name.empty() ? last : find("--out", name, variables));
      with_file([&, target = file] { return write_file(target, a), 0; });
      bar.step();
    }
    bar.finish();
    fmt::print("{}", printed);
    return 0;
  } catch (const Interrupted&) {
    CtrlC::die();
  } catch (const CalcError& error) {
    print_error(*text, error);
    return 1;
  } catch (const UsageError& error) {
    fmt::print(stderr, "galop: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {  // no place: it was found when the values were computed
    fmt::print(stderr, "galop: {}\n", error.what());
    return 1;
  }
}

}  // namespace galop::cli
