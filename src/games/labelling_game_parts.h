// All of the labelling game, for the source files that compile it for one problem.
#pragma once
#include "games/labelling_game_loop.h"    // IWYU pragma: export
#include "games/labelling_game_pivots.h"  // IWYU pragma: export
#include "games/labelling_game_start.h"   // IWYU pragma: export
