import pytest

from tests.inspection.python.found import grave, names, the

WRITE, READ = "control-system-write", "control-system-read"

IMPORT_STYLES = [
    "from epics import caput\ncaput('X', 1)",
    "from epics import caput as read\nread('X', 1)",
    "from epics import *\ncaput('X', 1)",
    "import epics\nepics.caput('X', 1)",
    "import epics as e\ne.caput('X', 1)",
    "import epics.ca\nepics.caput('X', 1)",
    "__import__('epics').caput('X', 1)",
    "import importlib\nimportlib.import_module('epics').caput('X', 1)",
    "import importlib\nm = importlib.import_module('ep' + 'ics')\nm.caput('X', 1)",
    "from importlib import import_module as load\nload('epics').caput('X', 1)",
    "import sys, epics\nsys.modules['epics'].caput('X', 1)",
    "import epics\ngetattr(epics, 'ca' + 'put')('X', 1)",
    "import epics\nvars(epics)['caput']('X', 1)",
    "import epics\nset_it = epics.caput\nset_it('X', 1)",
    "def f():\n    from epics import caput\n    caput('X', 1)",
    "try:\n    import epics\nexcept ImportError:\n    epics = None\nepics.caput('X', 1)",
    "import epics\nfrom functools import partial\npartial(epics.caput, 'X')(1)",
    "import epics\nlist(map(epics.caput, ['X'], [1]))",
    "import epics, threading\nthreading.Thread(target=epics.caput, args=('X', 1)).start()",
    "caput('X', 1)",
]

OBJECT_STYLES = [
    "from epics import PV\nPV('X').put(1)",
    "import epics\npv = epics.PV('X')\npv.put(1)",
    "from epics import PV as Channel\nChannel('X').put(1)",
    "import epics\npv = epics.PV('X')\npv.value = 1",
    "import epics\npv = epics.PV('X')\npv.value += 1",
    "import epics\nsetattr(epics.PV('X'), 'value', 1)",
    "import epics\nobject.__setattr__(epics.PV('X'), 'value', 1)",
    "import epics\nepics.PV('X').__setattr__('value', 1)",
    "import epics\nepics.PV.put(epics.PV('X'), 1)",
    "import epics\n(pv := epics.PV('X')).put(1)",
    "import epics\nwith held(epics.PV('X')) as pv:\n    pv.put(1)",
    "import epics\nfor pv in [epics.PV('X')]:\n    pv.put(1)",
    "import epics\npvs = {n: epics.PV(n) for n in 'XY'}\npvs['X'].put(1)",
    "import epics\nfrom operator import methodcaller\nmethodcaller('put', 1)(epics.PV('X'))",
    "import epics\ndo = epics.PV('X').put\ndo(1)",
    "import epics\ndef ramp(pv: epics.PV):\n    pv.put(1)",
    "import epics\nclass Mine(epics.PV): pass\nMine('X').put(1)",
    "import importlib\nPV = importlib.import_module('epics').PV\n[PV('X')][0].put(1)",
    "pvs = [PV('X')]\npvs[0].put(1)",
    "pvs = [PV('X')]\npvs[0].value = 1",
]

LIBRARIES = [
    "from p4p.client.thread import Context\nContext('pva').put('X', 1)",
    "from p4p.client.asyncio import Context\nasync def f():\n    await Context('pva').put('X', 1)",
    "from p4p.client.thread import Context\nContext('pva').rpc('X', None)",
    "from p4p.server import Server\nServer(providers=[])",
    "import pvaccess\npvaccess.Channel('X').put(1)",
    "from pvapy import Channel\nChannel('X').putDouble(1.0)",
    "from caproto.sync.client import write\nwrite('X', 1)",
    "from caproto.threading.client import Context\npv, = Context().get_pvs('X')\npv.write([1])",
    "from caproto.threading.pyepics_compat import caput\ncaput('X', 1)",
    "from cothread.catools import caput\ncaput('X', 1)",
    "import aioca\nasync def f():\n    await aioca.caput('X', 1)",
    "from ophyd import EpicsSignal\nEpicsSignal('X', name='x').set(1)",
    "from bluesky import RunEngine\nRE = RunEngine({})\nRE(plan())",
    "import tango\ntango.DeviceProxy('a/b/c').current = 1",
    "import tango\ntango.DeviceProxy('a/b/c').Off()",
    "from PyTango import DeviceProxy as D\nD('a/b/c').write_attribute('current', 1)",
    "import doocs4py\ndoocs4py.set('A/B/C/D', 1)",
    "from osprey.runtime import write_channel\nwrite_channel('X', 1)",
    "import osprey.runtime as rt\nrt.write_channels({'X': 1})",
    "write_channel('X', 1)",
    "from opcua import Client\nClient('opc.tcp://x').get_node('n').set_value(1)",
    "from pymodbus.client import ModbusTcpClient\nModbusTcpClient('x').write_register(1, 2)",
    "import pyvisa\npyvisa.ResourceManager().open_resource('x').write('VOLT 12')",
    "import subprocess\nsubprocess.run(['caput', 'X', '1'])",
    "import os\nos.system('pvput X 1')",
]

READS = [
    "from epics import caget\nprint(caget('X'))",
    "import epics\nprint(epics.caget_many(['X', 'Y']))",
    "import epics\npv = epics.PV('X')\nprint(pv.get(), pv.value, pv.units)",
    "import epics\nepics.camonitor('X', callback=print)",
    "from p4p.client.thread import Context\nprint(Context('pva').get('X'))",
    "import tango\nprint(tango.DeviceProxy('a/b/c').State())",
    "import tango\nprint(tango.DeviceProxy('a/b/c').read_attribute('current').value)",
    "from caproto.sync.client import read\nprint(read('X').data)",
    "from osprey.runtime import read_channel\nprint(read_channel('X'))",
]


VALUES = [
    "import epics\nv = epics.caget('SR:WF')\nprint(v.max(), v.std(), v.reshape(2, 2))",
    "import epics\nprint(epics.PV('SR:WF').get().argmax())",
    "from epics import caget\nprint(caget('NAME', as_string=True).lower())",
    "from cothread.catools import caget\nprint(caget('SR:WF').round(2))",
    "from p4p.client.thread import Context\nprint(Context('pva').get('SR:WF').sum())",
    "import tango\nd = tango.DeviceProxy('a/b/c')\nprint(d.read_attribute('x').value.min())",
    "from ophyd import EpicsSignalRO\nprint(EpicsSignalRO('X', name='x').get().flatten())",
    "from osprey.runtime import read_channel\nprint(read_channel('SR:WF').astype(float))",
    "from caproto.sync.client import read\nprint(read('X').data.copy())",
]
HOUSEKEEPING = [
    "import epics\nepics.ca.initialize_libca()\nepics.ca.pend_event(0.1)",
    "import epics\nepics.ca.use_initial_context()",
    "import epics\nc = epics.ca.create_channel('X')\nprint(epics.ca.element_count(c))",
    "import epics\npv = epics.PV('X')\npv.reconnect()",
    "import epics\np = epics.CAProcess(target=print)\np.start()\np.join()",
    "import caproto\nprint(caproto.TimeStamp.now())",
    "import cothread\ncothread.Sleep(1)\ncothread.Yield()",
    "import tango\nd = tango.DeviceProxy('a/b/c')\nd.ping()\nd.set_timeout_millis(500)",
    "import epics.dbr as dbr\na = dbr.event_handler_args()\na.count = 3",
    (
        "from caproto.server import PVGroup, pvproperty\n"
        "class Ioc(PVGroup):\n    a = pvproperty(value=1)\n"
        "    @a.startup\n    async def a(self, instance, async_lib):\n        pass"
    ),
]
BROUGHT = [
    "from epics import caput",
    "from epics import caget, caput, PV",
    "from epics import caput_many",
    "from osprey.runtime import read_channel, write_channel",
    "from p4p.client.thread import Context",
    "from caproto.threading.client import Context",
    "from caproto.server import PVGroup, pvproperty",
    "from tango import DeviceProxy, AttributeProxy",
    "from ophyd import EpicsMotor, EpicsSignal",
]


@pytest.mark.parametrize("source", VALUES)
def test_what_is_asked_of_a_value_that_was_read_writes_nothing(source):
    assert READ in names(source)
    assert grave(source) == set()


@pytest.mark.parametrize(
    "source",
    [
        "import epics\nepics.get_pv('X').put(1)",
        "import epics\nepics.PV('X').get_device().move(1)",
        "import tango\ntango.Database().get_device('a').insert()",
        "from ophyd import Device\nDevice('X', name='x').screen.remove()",
        "from ophyd import Device\nDevice('X', name='x').stage.center()",
        "from p4p.client.thread import Context\nContext('pva').get('X').apply()",
        "import pymeasure\npymeasure.Supply().get_output().fill(3)",
        "import tango\ntango.DeviceProxy('a/b/c').index()",
        "from ophyd import EpicsMotor\nEpicsMotor('X', name='x').copy()",
        "import epics\nepics.PV('X').run_callbacks()",
        "import epics\nepics.CAThread(target=epics.ca.put, args=(1, 2)).start()",
        "import epics\nepics.CAThread(target=mover.move, args=(1,)).start()",
    ],
)
def test_what_a_device_may_do_stays_a_write_after_a_read(source):
    assert WRITE in grave(source)


@pytest.mark.parametrize("source", HOUSEKEEPING)
def test_housekeeping_writes_nothing(source):
    assert grave(source) == set()


@pytest.mark.parametrize("source", BROUGHT)
def test_an_import_writes_to_nothing_and_reads_nothing(source):
    assert names(source) & {READ, WRITE} == set()


@pytest.mark.parametrize(
    "source", ["from epics import caput as s", "from epics import PV as s, caput as t"]
)
def test_another_name_for_a_write_is_noted_where_it_is_given(source):
    assert WRITE in grave(source)


@pytest.mark.parametrize("name", ["caput", "caput_many", "caputq", "pvput", "write_channel"])
def test_what_an_earlier_cell_imported_is_known_by_its_name(name):
    assert WRITE in grave(f"{name}('X', 1)")


@pytest.mark.parametrize(
    "source",
    [
        "from caproto.server import run\nrun({})",
        "from p4p.server import Server\nServer(providers=[])",
        "from tango.server import Device\nclass D(Device):\n    pass\nD.run_server()",
    ],
)
def test_a_server_lets_others_write_and_says_so(source):
    assert the(WRITE, source).code == "serves-control"


@pytest.mark.parametrize("source", IMPORT_STYLES)
def test_a_caput_is_seen_however_it_is_imported(source):
    assert WRITE in grave(source)


@pytest.mark.parametrize("source", OBJECT_STYLES)
def test_a_write_through_an_object_is_seen_however_it_is_reached(source):
    assert WRITE in grave(source)


@pytest.mark.parametrize("source", LIBRARIES)
def test_each_library_of_a_control_system_writes_in_its_own_words(source):
    assert WRITE in grave(source)


@pytest.mark.parametrize("source", READS)
def test_reading_from_a_control_system_is_noted_and_nothing_grave(source):
    assert READ in names(source)
    assert grave(source) == set()


def test_a_write_is_of_high_severity_and_no_doubt():
    found = the(WRITE, "import epics\n\nepics.caput('X', 1)")
    assert (found.severity, found.line, found.is_doubt) == ("high", 3, False)


def test_a_method_called_put_is_no_write_where_it_is_a_queues():
    source = "import queue, epics\nq = queue.Queue()\nq.put(epics.caget('X'))"
    assert WRITE not in names(source)


def test_put_of_something_from_an_earlier_cell_is_not_passed_over():
    assert "unknown-call" in names("magnet.put(3)")


@pytest.mark.parametrize("source", ["magnet.current = 3", "magnets['QF1'] = 3"])
def test_setting_a_part_of_something_from_an_earlier_cell_is_not_passed_over(source):
    assert "unknown-call" in names(source)


@pytest.mark.parametrize(
    "source",
    [
        "m = motor1\nm.move(5)",
        "for m in [motor1, motor2]:\n    m.move(5)",
        "[m.move(5) for m in (motor1, motor2)]",
        "def go(m):\n    m.move(5)\ngo(motor1)",
        "a = b = motor1\nc = [a]\nc[0].move(5)",
    ],
)
def test_what_the_kernel_held_is_followed_to_where_it_is_called(source):
    assert "unknown-call" in names(source)


def test_what_the_source_made_itself_is_not_taken_for_the_kernels():
    source = (
        "class Motor:\n    def move(self, x):\n        pass\nfor m in [Motor()]:\n    m.move(5)"
    )

    assert "unknown-call" not in names(source)


def test_what_saves_values_writes_a_file():
    source = "import epics\nepics.autosave.save_pvs('a.req', '/home/u/.bashrc')"
    assert "file-write" in names(source)


@pytest.mark.parametrize("kind", ["Thread", "Process"])
def test_what_is_started_from_an_earlier_cell_is_unknown(kind):
    imports = "from multiprocessing import Process\nfrom threading import Thread"
    source = f"{imports}\n{kind}(target=go).start()"
    assert "unknown-call" in names(source)
    assert "unknown-call" not in names(f"def go(): pass\n{source}")


@pytest.mark.parametrize("kind", ["CAThread", "CAProcess"])
def test_what_a_library_starts_from_an_earlier_cell_is_unknown(kind):
    source = f"import epics\nepics.{kind}(target=go).start()"
    assert "unknown-call" in names(source)
    assert "unknown-call" not in names(f"def go(): pass\n{source}")
