// The labelling game, compiled for chains (oracles.h).
#include "structures/chains/oracles.h"

#include "games/labelling_game_parts.h"

namespace m4n::detail {

template class LabellingGame<ChainProblem>;

}  // namespace m4n::detail
