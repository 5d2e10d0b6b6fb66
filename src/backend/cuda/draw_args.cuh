// What host and kernels of the random streams share: parameters, and sizes that both count with. No header and no
// namespace: it opens the kernels' text, and the host includes it in a namespace of its own.
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kTileBits = 11;
constexpr int kTileWords = 1 << kTileBits;  // 64-bit words that a block looks at in one go
constexpr int kNormalItems = 2048;          // draws that a warp looks at in one go for normals
constexpr int kNormalRows = kNormalItems / 32;
constexpr int kMostLead = 64;  // words before these that it looks at again
constexpr int kLeaps = 48;     // PCG64 leaps over 2^0 … 2^47 words
constexpr int kTwister = 624;
constexpr int kDoubts = 64;     // places whose acceptance the host decides
constexpr int kStepUnits = 33;  // draws that one step of the ziggurat takes at most

struct U128 {
  u64 high, low;
};

// state → factor · state + term.
struct Leap {
  U128 factor, term;
};

// Leaps by 32 words each, from kMostLead words back to the end of a tile of normals.
constexpr int kRowsBack = kMostLead / 32;
constexpr int kRowLeaps = kRowsBack + kNormalRows;

// A source of 64-bit words, numbered from 0.
struct Stream {
  U128 start;  // PCG64: the state whose output is word 0
  U128 lead;   // PCG64: kMostLead words before
  Leap leaps[kLeaps];
  u32 has_kept, kept;  // PCG64: the upper half of word 0 is `kept`, and the draws begin with it
  const u32* words;    // MT19937: 32-bit words, two of which make a word
  i64 word_count;      // of these; the ones behind read as 0
};

// A step of the ziggurat: how many draws it takes, and whether a number comes of it, one of the tail perhaps.
constexpr u32 kTakes = 63, kTail = 64, kMakes = 128;

struct Doubt {
  i64 item;
  u64 units[kStepUnits];  // the draws from there on
};
struct Decision {
  i64 item;
  u64 step;
};

struct Outcome {
  u64 total;    // numbers found in the words looked at
  u64 end;      // items used up by the first n numbers
  u64 doubts;   // listed in Args::doubts as far as they fit
  u64 tails;    // numbers of the normal distribution's tail, likewise
  u64 fixes;    // numbers that the host's libm finishes, likewise
  u64 trouble;  // a case that the kernels do not cover
};

struct NormalTables {
  u64 k[256];
  double w[256], f[256];
  float wf[256], ff[256];
  u32 kf[256];
  double r, inverse_r;
  float rf, inverse_rf;
};

struct Args {
  Stream stream;
  i64 first;  // items before it are no part of the stream
  i64 n;      // numbers wanted
  void* out;
  i64 chunk;   // words: of a block (direct), of a warp (selections)
  u32 packed;  // the numbers of a word can be stored at once
  u32 scaled, lemire;
  double low, range;
  u64 offset, last, mask, count, threshold;
  // Selections.
  u64* warp_counts;
  u64* block_counts;
  Outcome* outcome;
  Doubt* doubts;
  const Decision* decisions;
  u64 decided;
  const NormalTables* tables;
  i64* fix_index;     // of the pair; of normals the item
  double* fix_value;  // the argument; afterwards libm's result
  double* fix_x;
  double* fix_y;
  u64 fix_room;
  // Normals.
  i64 tiles;              // of kNormalItems draws
  const Leap* row_leaps;  // PCG64: kRowLeaps of them
  u64* makes;             // of each tile: which draws a number begins with
  i64* before;            // of each tile: how many numbers come before it
  i64* tail_item;         // ~item: among the fixes
  double* tail_value;     // the draw that the number is made of, with the number's sign; afterwards the number
  u64 tail_room;
  // MT19937: lanes that stand `lane_words` apart, each with a window of 624 words.
  u32* windows;
  const u64* polynomial;
  u32* made;
  i64 lanes, lane_words, made_count;
};
