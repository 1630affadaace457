"""Pictures of runs: records in, Axes and films out.

Most functions take a run and an optional `ax`, draw, and return the Axes; the sheets `overview` and
`balance` return a Figure, `animate` a film. None calls `show()`. What is not given is made by
`matplotlib.pyplot`. Axes carry units, lines are told apart by colour and by dash, and no global
setting of Matplotlib is touched.
"""

from ._animation import Animation as Animation, animate as animate, require_film as require_film
from ._distance_plot import distance as distance, overlay as overlay
from ._edges_plot import edge_slopes as edge_slopes
from ._energy_plot import energy as energy, imbalance as imbalance
from ._fit_report import fit_folder as fit_folder, save_fit_folder as save_fit_folder
from ._fits import correlations as correlations, fit as fit, fit_residuals as fit_residuals
from ._folder import (
    read_settings as read_settings,
    run_folder as run_folder,
    save_folder as save_folder,
)
from ._pages import (
    balance as balance,
    overview as overview,
    require_picture as require_picture,
    save_figure as save_figure,
)
from ._paths import paths as paths, stroboscope as stroboscope
from ._series import coordinates as coordinates, phase as phase, rates as rates
from ._stability import areas as areas, bands as bands, stability as stability
from ._tournament_plot import tournament as tournament
