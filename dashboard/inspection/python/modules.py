"""Which modules are known, and by which other names they and their parts go."""

from __future__ import annotations

from dashboard.inspection.python.effects import words

HARMLESS = words("""
    __future__ abc argparse array ast asyncio base64 binascii bisect calendar cmath collections
    colorsys concurrent configparser contextlib contextvars copy csv curses dataclasses datetime
    decimal difflib dis doctest email encodings enum errno faulthandler filecmp fileinput fnmatch
    fractions functools gc getopt gettext glob graphlib grp gzip hashlib heapq hmac html http io
    inspect ipaddress itertools json keyword linecache locale logging lzma bz2 mimetypes
    multiprocessing numbers opcode operator optparse os pathlib pickle pickletools pkgutil platform
    plistlib pprint pwd queue quopri random re readline reprlib resource sched secrets select
    selectors shlex shutil signal sndhdr sqlite3 ssl stat statistics string stringprep struct
    symtable sys sysconfig tarfile tempfile termios textwrap threading time timeit token tokenize
    tomllib trace traceback tracemalloc tty types typing unicodedata unittest urllib uuid warnings
    wave weakref xml zipfile zlib zoneinfo builtins codecs importlib profile cProfile pstats cmd
    zipapp fcntl cgi _thread numpy pandas scipy matplotlib seaborn sklearn
    statsmodels sympy networkx xarray polars joblib h5py netCDF4 tables zarr numexpr bottleneck
    patsy lmfit uncertainties pint astropy skimage cv2 PIL imageio tifffile plotly colorcet cmocean
    shapely geopandas pyproj xgboost lightgbm emcee corner pymc arviz filterpy pywt PyNAFF
    soundfile mpmath gmpy2 cvxpy scikit_posthocs pingouin prettytable tabulate rich tqdm termcolor
    colorama pytz dateutil pendulum arrow humanize regex attr attrs pydantic typeguard
    typing_extensions more_itertools toolz cytoolz sortedcontainers boltons orjson ujson simplejson
    msgpack toml tomli tomli_w yaml openpyxl xlrd xlsxwriter lxml bs4 IPython ipywidgets
    mpl_toolkits pylab psutil sqlalchemy uproot awkward hist iminuit at sdds xtrack xpart
    pmd_beamphysics ml_dtypes einops cachetools
""")

# Too much of these is not in the tables, though some is: importing them is a finding of its own.
PARTLY = words("""
    torch tensorflow keras jax jaxlib flax optax dask bokeh holoviews hvplot altair six click typer
    traitlets nbformat pyarrow numba cupy hypothesis trio anyio aiofiles duckdb cartopy optuna
    hyperopt ax freezegun safetensors wsgiref
""")

ALIASES = {
    "posix": "os",
    "nt": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "__builtin__": "builtins",
    "__builtins__": "builtins",
    "io.open": "builtins.open",
    "os.popen2": "os.popen",
    "_io.open": "builtins.open",
    "_pyio.open": "builtins.open",
    "os.environb": "os.environ",
    "io.open_code": "builtins.open",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.WindowsPath": "pathlib.Path",
    "asyncio.subprocess.create_subprocess_exec": "asyncio.create_subprocess_exec",
    "asyncio.subprocess.create_subprocess_shell": "asyncio.create_subprocess_shell",
    "p4p.client.thread.Context": "p4p.client.Context",
    "p4p.client.asyncio.Context": "p4p.client.Context",
    "sqlalchemy.engine.create_engine": "sqlalchemy.create_engine",
    "requests.sessions.Session": "requests.Session",
    "requests.session": "requests.Session",
    "requests.api": "requests",
    "numpy.lib.npyio.load": "numpy.load",
    "IPython.get_ipython": "get_ipython",
    "IPython.core.getipython.get_ipython": "get_ipython",
    "yaml.CSafeLoader": "yaml.SafeLoader",
    "ruamel.yaml": "yaml",
    "ruamel_yaml": "yaml",
    "_socket": "socket",
    "_imp": "imp",
    "pickle._Unpickler": "pickle.Unpickler",
    "cloudpickle.pickle": "pickle",
    "subprocess32": "subprocess",
    "tensorflow.io.gfile": "shutil",
    "six.moves.urllib": "urllib",
    "six.moves.builtins": "builtins",
    "six.moves.cPickle": "pickle",
    "past.builtins": "builtins",
    "concurrent.futures.thread.ThreadPoolExecutor": "concurrent.futures.ThreadPoolExecutor",
}

# Modules that other modules hold under these names: shutil.os, random._os, logging.sys.
HELD = {
    f"{blank}{name}": name
    for blank in ("", "_")
    for name in words("""
        os sys subprocess shutil builtins importlib socket ctypes pickle marshal pathlib tempfile
    """)
}
# The same, where the holder is of the standard library: others have parts of these names.
HELD_BY_STDLIB = {
    f"{blank}{name}": name
    for blank in ("", "_")
    for name in words("""
        io codecs urllib functools operator gc inspect types runpy code
    """)
}
HOLDS_ITS_OWN = frozenset(["asyncio.subprocess", "socket.socket"])

AMBIENT = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "mpl": "matplotlib",
    "sns": "seaborn",
    "sp": "scipy",
    "get_ipython": "get_ipython",
    "Path": "pathlib.Path",
    **{
        name: name
        for name in words("""
            os sys subprocess shutil socket ctypes pickle importlib builtins requests urllib numpy
            pandas pathlib pty io httpx
        """)
    },
}
"""Names that a kernel is likely to hold from an earlier cell."""

WHERE_FREE = {
    "system": "os.system",
    "popen": "os.popen",
    "Popen": "subprocess.Popen",
    "check_output": "subprocess.check_output",
    "check_call": "subprocess.check_call",
    "getoutput": "subprocess.getoutput",
    "rmtree": "shutil.rmtree",
    "unlink": "os.unlink",
    "urlopen": "urllib.request.urlopen",
    "urlretrieve": "urllib.request.urlretrieve",
    "import_module": "importlib.import_module",
    "environ": "os.environ",
    "getenv": "os.getenv",
}
"""Names of functions that count as those where the source gives them no meaning of its own."""

# Objects that keep what they are told to themselves: putting, setting and writing do no harm.
HARMLESS_TYPES = words("""
    queue.Queue queue.LifoQueue queue.PriorityQueue queue.SimpleQueue asyncio.Queue
    asyncio.LifoQueue asyncio.PriorityQueue multiprocessing.Queue multiprocessing.SimpleQueue
    multiprocessing.JoinableQueue collections.deque collections.Counter collections.OrderedDict
    collections.defaultdict threading.Event threading.Lock threading.RLock threading.Semaphore
    threading.Condition threading.local asyncio.Event asyncio.Lock asyncio.Semaphore asyncio.Future
    asyncio.Condition io.StringIO io.BytesIO logging.getLogger contextvars.ContextVar tqdm.tqdm
    tqdm.auto.tqdm tqdm.notebook.tqdm re.compile datetime.datetime.now datetime.datetime
    datetime.date argparse.ArgumentParser matplotlib.pyplot.figure matplotlib.pyplot.gca
    matplotlib.pyplot.gcf matplotlib.pyplot.subplots matplotlib.pyplot.axes
    matplotlib.pyplot.subplot ipywidgets.FloatSlider ipywidgets.IntSlider ipywidgets.IntProgress
    ipywidgets.Label ipywidgets.HTML ipywidgets.Text ipywidgets.Dropdown ipywidgets.Checkbox
    types.SimpleNamespace configparser.ConfigParser csv.writer csv.DictWriter
    concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor asyncio.TaskGroup
    builtins.str string.Template random.Random hashlib.sha256 hashlib.md5 hashlib.sha1 hashlib.new
    struct.Struct itertools.count decimal.Decimal fractions.Fraction pandas.ExcelWriter
    builtins.open gzip.open bz2.open lzma.open
""")

BUFFERS = frozenset(["io.StringIO()", "io.BytesIO()"])
DATABASES = words("""
    sqlite3 psycopg psycopg2 pymysql MySQLdb mysql asyncpg cx_Oracle oracledb pyodbc sqlalchemy
    duckdb aiosqlite clickhouse_driver snowflake trino pymssql peewee databases turbodbc pg8000
    django
""")

# Attributes that lead from any object to everything else.
TRICKY = words("""
    __subclasses__ __globals__ __builtins__ __code__ __closure__ __bases__ __base__ __mro__ mro
    __getattribute__ __import__ __loader__ __spec__ __self__ __func__ __annotations__ __annotate__
    f_globals f_locals f_builtins f_back f_code gi_frame gi_code cr_frame cr_code ag_frame ag_code
    tb_frame co_code co_consts func_globals func_code cell_contents __reduce__ __reduce_ex__
    user_ns user_global_ns __objclass__ __wrapped__ fset fget fdel __defaults__ __kwdefaults__
    __set__ __get__
""")

# Functions that call what they are given.
HIGHER_ORDER = words("""
    map filter partial partialmethod Thread Process Timer submit apply apply_async apply_map
    starmap imap imap_unordered map_async starmap_async run_in_executor to_thread call_soon
    call_soon_threadsafe call_later call_at register reduce sorted min max iter methodcaller
    add_done_callback after after_idle applymap pipe transform run_coroutine_threadsafe
    start_new_thread reduceat frompyfunc vectorize delayed singledispatch lru_cache cache
    cached_property property staticmethod classmethod wraps callback push finalize accumulate
    takewhile dropwhile groupby filterfalse apply_along_axis fromfunction run_sync Task
    ensure_future enter_context
""")
