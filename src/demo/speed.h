// How fast this machine is, in a few seconds and without any file: oracles, one fit of each surrogate and prediction,
// on made-up data: 26 clouds of normal points in 16 dimensions that overlap.
#pragma once
#include <string>

namespace m4n::detail {

std::string speed_report(bool json);

}  // namespace m4n::detail
