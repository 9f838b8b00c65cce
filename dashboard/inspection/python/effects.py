"""What the standard library's functions do, as far as it matters to whoever approves them.

Each row says which finding a function is, how severe, which check looks at the arguments (if it is
not a finding whatever they are), and then the functions. A method is written as a member of its
class. ``module.*`` stands for whatever else the module holds.
"""

from __future__ import annotations

from typing import NamedTuple

from dashboard.inspection.findings import Severity

UNFOLLOWED = "cannot-be-followed"


class Deed(NamedTuple):
    """What a function does: a finding, and the check that knows better once it sees arguments."""

    name: str
    severity: Severity
    check: str = ""


Table = dict[str, tuple[Deed, ...]]


def words(text: str) -> frozenset[str]:
    """Return the words of a text: tables are easier to read so."""
    return frozenset(text.split())


def rows(text: str) -> Table:
    """Read a table: a line that ends in a colon says what the names below it are."""
    table: Table = {}
    deed = Deed("", Severity.HIGH)
    for line in text.strip().splitlines():
        if line.endswith(":"):
            name, severity, *check = line[:-1].split()
            deed = Deed(name, Severity(severity), *check)
            continue
        for path in line.split():
            table[path] = (*table.get(path, ()), deed)
    return table


def merged(*tables: Table) -> Table:
    """Put tables together: a name in several of them is all that they say."""
    table: Table = {}
    for path, deeds in (item for part in tables for item in part.items()):
        table[path] = (*table.get(path, ()), *deeds)
    return table


_PROCESSES = rows("""
process-execution high command:
    os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput
    asyncio.create_subprocess_shell commands.getstatusoutput
process-execution high argv:
    subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen
    asyncio.create_subprocess_exec pty.spawn os.startfile distutils.spawn.spawn
process-execution high program:
    os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.posix_spawn
    os.posix_spawnp
process-execution high spawned:
    os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe
process-execution high:
    subprocess.* _posixsubprocess.* popen2.* _winapi.CreateProcess
    multiprocessing.util.spawnv_passfds webbrowser.get webbrowser.register pydoc.pipepager
    pydoc.tempfilepager pty.* distutils.* _osx_support.* multiprocessing.spawn.*
    multiprocessing.popen_fork.* multiprocessing.popen_spawn_posix.* multiprocessing.forkserver.*
background-job high:
    os.fork os.forkpty os.setsid os.daemon os.setpgid os.setpgrp
background-job low:
    atexit.register threading.Timer signal.signal sched.scheduler
background-job info thread:
    threading.Thread
background-job info:
    multiprocessing.Process multiprocessing.Pool _thread.start_new_thread
    concurrent.futures.ProcessPoolExecutor multiprocessing.pool.Pool
system-change high:
    os.kill os.killpg os.abort signal.pthread_kill winreg.* time.clock_settime ensurepip.*
    socket.sethostname os.chroot os.sched_setscheduler msvcrt.* _winapi.* venv.*
system-change medium environ:
    os.environ.update os.environ.setdefault os.putenv
system-change low:
    os.unsetenv resource.setrlimit os._exit os.nice
privilege-change high:
    os.setuid os.seteuid os.setreuid os.setresuid os.setgid os.setegid os.setregid os.setresgid
    os.setgroups os.initgroups os.chown os.lchown os.fchown shutil.chown
""")

_FILES = rows("""
file-delete high:
    os.remove os.unlink os.rmdir os.removedirs os.truncate os.ftruncate pathlib.Path.unlink
    pathlib.Path.rmdir
recursive-delete high:
    shutil.rmtree
privilege-change high chmod:
    os.chmod os.fchmod os.lchmod pathlib.Path.chmod
file-write medium:
    os.rename os.renames os.replace os.link os.symlink os.mkdir os.makedirs os.mknod os.mkfifo
    os.write os.pwrite os.writev os.sendfile os.utime os.copy_file_range os.setxattr os.open
    shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.copyfileobj shutil.copymode
    shutil.copystat shutil.move shutil.make_archive shutil.unpack_archive pathlib.Path.rename
    pathlib.Path.replace pathlib.Path.touch pathlib.Path.mkdir pathlib.Path.write_text
    pathlib.Path.write_bytes pathlib.Path.symlink_to pathlib.Path.hardlink_to
    zipfile.ZipFile.extract tarfile.TarFile.extract logging.FileHandler logging.handlers.*
    py_compile.compile compileall.* zipapp.* dbm.* tracemalloc.Snapshot.dump mmap.mmap mailbox.*
    pstats.Stats.dump_stats trace.CoverageResults.write_results readline.write_history_file
    readline.append_history_file pydoc.writedoc pydoc.writedocs xml.etree.ElementTree.parse.write
    xml.etree.ElementTree.ElementTree.write sqlite3.connect.backup sqlite3.Connection.backup
file-write medium temporary:
    tempfile.*
file-write medium filename:
    logging.basicConfig
file-write medium inplace:
    fileinput.input fileinput.FileInput
file-write medium open:
    builtins.open codecs.open gzip.open bz2.open lzma.open tarfile.open zipfile.ZipFile
    gzip.GzipFile bz2.BZ2File lzma.LZMAFile wave.open aifc.open io.FileIO os.fdopen sunau.open
    tarfile.TarFile
file-write medium open_method:
    pathlib.Path.open
file-read info:
    pathlib.Path.read_text pathlib.Path.read_bytes linecache.getline linecache.getlines os.listdir
    os.scandir os.walk glob.glob glob.iglob tokenize.open
file-read info:
    os.read os.pread os.readlink filecmp.* sqlite3.connect
""")

_NETWORK = rows("""
network medium:
    socket.* urllib.request.* urllib2.* http.client.* http.server.* ftplib.* smtplib.* poplib.*
    imaplib.* nntplib.* telnetlib.* xmlrpc.* socketserver.* ssl.wrap_socket
    ssl.get_server_certificate asyncio.open_connection asyncio.start_server smtpd.*
    asyncio.open_unix_connection asyncio.start_unix_server asyncore.* asynchat.* webbrowser.open
    webbrowser.open_new webbrowser.open_new_tab wsgiref.simple_server.*
    multiprocessing.connection.* multiprocessing.managers.* logging.handlers.HTTPHandler
    logging.handlers.SocketHandler logging.handlers.SMTPHandler socket.socket.connect
    socket.socket.send socket.socket.sendall socket.socket.sendto socket.socket.bind
    logging.handlers.DatagramHandler logging.handlers.SysLogHandler syslog.syslog pydoc.browse
    antigravity.* urllib.robotparser.*
network medium url_given:
    xml.sax.parse xml.dom.minidom.parse xml.dom.pulldom.parse xml.sax.make_parser
file-write medium:
    urllib.request.urlretrieve
""")

_CODE = rows("""
dynamic-code high code:
    builtins.exec builtins.eval builtins.compile
dynamic-code high timed:
    timeit.timeit timeit.repeat timeit.Timer cProfile.run
    cProfile.runctx profile.run profile.runctx pdb.run pdb.runeval trace.Trace.run
    doctest.run_docstring_examples cProfile.Profile.run cProfile.Profile.runctx bdb.Bdb.run
dynamic-code high unseen:
    runpy.* imp.* zipimport.* importlib.util.spec_from_file_location ctypes.* _ctypes.*
    importlib.util.spec_from_loader importlib.util.module_from_spec importlib.machinery.*
    importlib.abc.* importlib.reload code.* codeop.* builtins.breakpoint pdb.* site.addsitedir
    types.FunctionType types.CodeType types.LambdaType sys.addaudithook importlib._bootstrap.*
    importlib._bootstrap_external.* sys.breakpointhook rlcompleter.* idlelib.* test.* lib2to3.*
    turtledemo.* doctest.* tkinter.Tcl importlib.metadata.EntryPoint _frozen_importlib.*
    _frozen_importlib_external.* unittest.defaultTestLoader.* sqlite3.connect.load_extension
dynamic-code medium:
    tkinter.* importlib.metadata.entry_points
unknown-call low:
    unittest.* pydoc.* trace.* bdb.* turtle.* webbrowser.* help builtins.help
dynamic-code high import:
    builtins.__import__ importlib.import_module importlib.__import__ pkgutil.resolve_name
    pydoc.locate
deserialisation high:
    pickle.load pickle.loads pickle.Unpickler pickle._load pickle._loads pickle._Unpickler
    cPickle.* _pickle.* marshal.load marshal.loads shelve.* logging.config.* copyreg.*
    multiprocessing.reduction.*
cannot-be-followed medium:
    gc.get_objects gc.get_referrers gc.get_referents sys._getframe sys._current_frames
    inspect.currentframe inspect.stack inspect.trace inspect.getmembers sys.settrace
    inspect.getattr_static sys.setprofile threading.settrace threading.setprofile
    typing.get_type_hints inspect.get_annotations types.ModuleType types.new_class
    unittest.mock.patch mock.patch builtins.__build_class__ weakref.getweakrefs
    inspect.getclosurevars inspect.getinnerframes inspect.getouterframes
    typing.ForwardRef
unknown-import low:
    sys.path.insert sys.path.append sys.path.extend
cannot-be-followed medium attribute:
    builtins.getattr builtins.delattr
cannot-be-followed medium set_attribute:
    builtins.setattr builtins.object.__setattr__ builtins.type.__setattr__
cannot-be-followed medium named:
    operator.attrgetter operator.methodcaller
""")

_SECRETS = rows("""
credentials medium:
    getpass.getpass getpass.unix_getpass netrc.* spwd.* crypt.*
credentials medium variable:
    os.getenv os.getenvb os.environ.get os.environ.pop os.environ.setdefault
credentials medium:
    os.environ.items os.environ.values os.environ.copy os.environ.popitem
""")

STDLIB = merged(_PROCESSES, _FILES, _NETWORK, _CODE, _SECRETS)

# Members of modules that can do harm, which do none. What else these modules hold is not known.
HARMLESS_MEMBERS = {
    "os": words("""
        getcwd getcwdb getpid getppid getuid geteuid getgid getegid getgroups getlogin getpgid
        getpgrp getsid stat lstat fstat statvfs fspath fsencode fsdecode access cpu_count uname
        urandom getrandom times getloadavg get_terminal_size isatty strerror path environ name sep
        linesep error sched_getaffinity get_exec_path WEXITSTATUS waitpid wait close closerange dup
        dup2 fsync pipe chdir umask getpriority get_blocking nice supports_bytes_environ environb
        PathLike DirEntry stat_result terminal_size umask sync confstr sysconf
    """),
    "sys": words("""
        exit getsizeof exc_info getrecursionlimit setrecursionlimit getrefcount intern
        getdefaultencoding getfilesystemencoding is_finalizing excepthook displayhook exception
        getswitchinterval setswitchinterval getallocatedblocks version_info
    """),
    "shutil": words("""
        which disk_usage get_terminal_size ignore_patterns get_archive_formats Error
        get_unpack_formats SameFileError
    """),
    "importlib": frozenset(["invalidate_caches"]),
}
# Attributes of a harmful module that are objects with harmless methods of their own.
HARMLESS_PARTS = (
    "os.path.",
    "os.environ.",
    "sys.stdout.",
    "sys.stderr.",
    "sys.stdin.",
    "sys.argv.",
    "sys.path.",
    "sys.version",
    "sys.platform.",
    "sys.flags.",
    "sys.float_info.",
    "sys.builtin_module_names.",
    "sys.stdlib_module_names.",
    "importlib.metadata.version",
    "importlib.metadata.metadata",
    "importlib.metadata.packages_distributions",
    "importlib.resources.",
    "importlib.util.find_spec",
)
