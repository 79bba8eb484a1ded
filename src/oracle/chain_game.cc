#include "oracle/chain_game.h"

#include "oracle/labelling_game_parts.h"

namespace m4n {

template class LabellingGame<ChainProblem>;

}  // namespace m4n
