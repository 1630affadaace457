"""Pictures of runs: records in, Axes and animations out.

Every function takes a run and an optional `ax`, draws, and returns the Axes; none calls `show()`.
Without `ax` a new figure of `matplotlib.pyplot` is made. Axes carry units, lines are told apart by
colour and by dash, and no global setting of Matplotlib is touched.
"""

from ._animation import (
    Animation as Animation,
    animate as animate,
    require_animation_format as require_animation_format,
    require_film_settings as require_film_settings,
)
from ._compare import distance as distance, overlay as overlay
from ._energy import energy as energy, imbalance as imbalance
from ._folder import (
    FOLDER_MEMBERS as FOLDER_MEMBERS,
    SETTINGS as SETTINGS,
    fill_folder as fill_folder,
    save_folder as save_folder,
)
from ._machine import require_drawing as require_drawing
from ._pages import (
    balance as balance,
    overview as overview,
    require_picture_format as require_picture_format,
    save_figure as save_figure,
)
from ._places import paths as paths, stroboscope as stroboscope
from ._series import coordinates as coordinates, phase as phase, rates as rates
