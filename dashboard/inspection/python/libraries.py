"""What other people's libraries do: the same rows as for the standard library."""

from __future__ import annotations

from dashboard.inspection.python.effects import rows

LIBRARIES = rows("""
network medium:
    requests.* requests_html.* httpx.* httpx2.* aiohttp.* urllib3.* websockets.* websocket.*
    tornado.* paramiko.* fabric.* asyncssh.* netmiko.* boto3.* botocore.* aioboto3.* s3fs.* gcsfs.*
    fsspec.* google.* azure.* pymongo.* motor.* redis.* kafka.* pika.* paho.* zmq.* grpc.* dns.*
    scapy.* pyftpdlib.* ldap3.* selenium.* playwright.* openai.* anthropic.* huggingface_hub.*
    wandb.* slack_sdk.* telegram.* twilio.* tweepy.* elasticsearch.* pycurl.* psycopg.* psycopg2.*
    pymysql.* MySQLdb.* mysql.* asyncpg.* cx_Oracle.* oracledb.* pyodbc.* influxdb.*
    influxdb_client.* confluent_kafka.* nats.* stomp.* minio.* dropbox.* github.* gitlab.* jira.*
    ftputil.* pysftp.* trio.open_tcp_stream anyio.connect_tcp treq.* flask.Flask.run uvicorn.*
    daphne.* waitress.* mlflow.* kaggle.* gdown.* wget.* yfinance.* datasets.load_dataset
    seaborn.load_dataset torch.hub.* sklearn.datasets.fetch_openml
    sklearn.datasets.fetch_california_housing sklearn.datasets.fetch_20newsgroups
    sklearn.datasets.fetch_covtype scipy.datasets.* sklearn.datasets.fetch_olivetti_faces
    statsmodels.datasets.get_rdataset pandas.read_gbq astropy.utils.data.download_file
    nltk.download astroquery.* numpy.DataSource numpy.lib.npyio.DataSource keras.utils.get_file
    tensorflow.keras.utils.get_file keras.datasets.* tensorflow.keras.datasets.* click.launch
    typer.launch sklearn.datasets.fetch_lfw_people sklearn.datasets.fetch_lfw_pairs
    sklearn.datasets.fetch_kddcup99 sklearn.datasets.fetch_rcv1
    sklearn.datasets.fetch_species_distributions sklearn.datasets.fetch_20newsgroups_vectorized
    astropy.utils.data.* astropy.coordinates.SkyCoord.from_name astropy.utils.iers.* cartopy.io.*
    requests.Session.get requests.Session.post requests.Session.put requests.Session.delete
    requests.Session.patch requests.Session.head requests.Session.request requests.Session.send
    httpx.Client.get httpx.Client.post httpx.Client.put httpx.Client.delete httpx.Client.patch
    httpx.Client.request httpx.AsyncClient.get httpx.AsyncClient.post httpx.AsyncClient.put
    httpx.AsyncClient.request aiohttp.ClientSession.get aiohttp.ClientSession.post
    aiohttp.ClientSession.put aiohttp.ClientSession.request
network medium engine:
    sqlalchemy.create_engine
network medium engine:
    sqlalchemy.ext.asyncio.create_async_engine
process-execution high command:
    pexpect.spawn pexpect.run fabric.Connection.run fabric.Connection.sudo invoke.run
    IPython.utils.process.system IPython.utils.process.getoutput
    IPython.utils.process.getoutputerror anyio.run_process anyio.open_process trio.run_process
    trio.lowlevel.open_process fabric.Connection.local fabric.api.run fabric.api.sudo
    fabric.api.local paramiko.SSHClient.exec_command invoke.Context.run get_ipython.system
    get_ipython.getoutput get_ipython.system_piped get_ipython.getoutput_piped
process-execution high:
    pexpect.* sh.* plumbum.* invoke.* numpy.f2py.* numpy.distutils.* torch.utils.cpp_extension.*
    sympy.preview sympy.printing.preview.* sympy.utilities.autowrap.* sympy.utilities.runtests.*
    sympy.testing.* click.edit PIL.ImageShow.* numba.pycc.* IPython.utils.process.*
    psutil.Popen docker.* kubernetes.* ansible.* delegator.* envoy.* pip.* setuptools.*
system-change high:
    psutil.Process.kill psutil.Process.terminate psutil.Process.nice
system-change high:
    psutil.Process.suspend psutil.Process.send_signal crontab.*
dynamic-code medium option:
    pandas.set_option pandas.option_context
background-job medium:
    daemon.* apscheduler.* schedule.* celery.* rq.* dramatiq.*
dynamic-code high magic:
    get_ipython.run_line_magic get_ipython.magic
dynamic-code high magic:
    get_ipython.run_cell_magic
dynamic-code high code:
    get_ipython.run_cell get_ipython.ex get_ipython.ev
dynamic-code high code:
    get_ipython.run_code get_ipython.run_cell_async
dynamic-code high unseen:
    numpy.ctypeslib.* cffi.* weave.* pythoncom.* win32com.* win32api.* jpype.* py4j.* rpy2.*
    pyximport.* Cython.* matlab.* oct2py.* llvmlite.* frida.*
dynamic-code high unseen:
    IPython.embed IPython.embed_kernel IPython.start_ipython IPython.start_kernel IPython.core.*
    IPython.terminal.* IPython.kernel.* IPython.lib.* IPython.display.Javascript
    traitlets.import_item traitlets.utils.* numpy.testing.rundocs numpy.testing.run_module_suite
    tensorflow.load_op_library tensorflow.load_library torch.ops.* torch.classes.*
    tensorflow.saved_model.load keras.config.* pydantic.ImportString PIL.ImageMath.eval
    PIL.ImageMath.unsafe_eval jax.ffi.* numba.core.* pluggy.* stevedore.*
dynamic-code high code:
    six.exec_ numpy.testing.measure numpy.testing.runstring
dynamic-code medium:
    get_ipython.* IPython.utils.*
dynamic-code medium backend:
    matplotlib.use matplotlib.pyplot.switch_backend
dynamic-code medium formula:
    sympy.* sympy.lambdify
dynamic-code medium:
    sympy.parse_expr sympy.parsing.*
dynamic-code medium query:
    pandas.eval numexpr.evaluate
deserialisation high:
    dill.load dill.loads dill.Unpickler cloudpickle.load cloudpickle.loads joblib.load
    pandas.read_pickle yaml.unsafe_load yaml.unsafe_load_all yaml.full_load yaml.full_load_all
    yaml.UnsafeLoader yaml.Loader yaml.FullLoader jsonpickle.decode jsonpickle.loads torch.jit.load
    keras.models.load_model tensorflow.keras.models.load_model pickle5.load pickle5.loads
    keras.saving.load_model tensorflow.keras.saving.load_model keras.models.model_from_json
    torch.serialization.load torch.package.* statsmodels.api.load statsmodels.iolib.smpickle.*
    networkx.read_gpickle pandas.compat.pickle_compat.* pandas.io.pickle.* joblib.Memory
    numpy.core.multiarray.* joblib.numpy_pickle.* torch.utils.model_zoo.*
    skops.io.load compress_pickle.* klepto.* sklearn.externals.*
deserialisation high yaml:
    yaml.load yaml.load_all
deserialisation high numpy_load:
    numpy.load
deserialisation high torch_load:
    torch.load
file-write medium target:
    numpy.save numpy.savez numpy.savez_compressed numpy.savetxt scipy.io.savemat
    scipy.io.wavfile.write scipy.sparse.save_npz torch.save joblib.dump cv2.imwrite cv2.VideoWriter
    imageio.imwrite imageio.imsave imageio.mimsave plotly.io.write_image plotly.io.write_html
    plotly.io.write_json soundfile.write networkx.write_gml networkx.write_gexf
    networkx.write_graphml networkx.write_edgelist tifffile.imwrite pyarrow.parquet.write_table
    pyarrow.feather.write_feather pandas.ExcelWriter pandas.HDFStore skimage.io.imsave
    astropy.io.fits.writeto numpy.memmap numpy.lib.format.open_memmap sdds.SDDS.save
    uproot.recreate uproot.update zarr.open zarr.save zarr.open_group zarr.open_array
    openpyxl.Workbook.save dotenv.set_key tensorflow.io.write_file torch.onnx.export
    imageio.get_writer tifffile.TiffWriter xlsxwriter.Workbook bokeh.plotting.output_file
    bokeh.io.output_file bokeh.plotting.save bokeh.io.save nbformat.write pyarrow.OSFile
    cv2.FileStorage imageio.v2.get_writer lxml.etree.parse.write lxml.etree.ElementTree.write
    pyarrow.parquet.ParquetWriter pyarrow.output_stream pyarrow.dataset.write_dataset
    pyarrow.fs.* aiofiles.os.* h5py.h5f.create matplotlib.image.imsave
    pyarrow.csv.write_csv
file-write medium open:
    h5py.File netCDF4.Dataset tables.open_file aiofiles.open
file-read info url:
    pandas.read_csv pandas.read_table pandas.read_excel pandas.read_json pandas.read_html
    pandas.read_xml pandas.read_parquet pandas.read_feather pandas.read_hdf pandas.read_orc
    pandas.read_stata pandas.read_sas pandas.read_spss pandas.read_fwf pandas.read_clipboard
    pandas.ExcelFile numpy.loadtxt numpy.genfromtxt numpy.fromfile xarray.open_dataset
    xarray.open_mfdataset xarray.load_dataset polars.read_csv polars.read_parquet polars.scan_csv
    polars.scan_parquet polars.read_json scipy.io.loadmat scipy.io.wavfile.read PIL.Image.open
    cv2.imread cv2.VideoCapture imageio.imread matplotlib.pyplot.imread pyarrow.parquet.read_table
    geopandas.read_file astropy.io.fits.open astropy.table.Table.read skimage.io.imread
    dask.dataframe.read_csv dask.dataframe.read_parquet uproot.open openpyxl.load_workbook
sql-write medium sql:
    pandas.read_sql pandas.read_sql_query polars.read_database
sql-write medium sql:
    duckdb.sql duckdb.query duckdb.execute
credentials medium:
    keyring.* dotenv.* hvac.* google.auth.* secretstorage.*
network medium url_given:
    lxml.etree.parse lxml.html.parse matplotlib.style.use matplotlib.pyplot.style.use
    matplotlib.style.context matplotlib.pyplot.style.context
unknown-call low:
    IPython.display.HTML IPython.display.IFrame IPython.display.display_html
    ray.* dask.distributed.*
""")

# What a method of an object that is not known does, by a name that hardly means anything else.
METHODS = rows("""
process-execution high argv:
    Popen check_output check_call create_subprocess_exec
process-execution high command:
    popen getoutput getstatusoutput exec_command
process-execution high command:
    create_subprocess_shell subprocess_shell
process-execution high argv:
    subprocess_exec startfile posix_spawn
process-execution high:
    execv execve execvp execvpe execlp fork_exec spawnv spawnvp
recursive-delete high:
    rmtree _rmtree remove_tree delete_dir
file-delete high:
    unlink rmdir removedirs
file-write medium target:
    write_text write_bytes touch mkdir makedirs symlink_to hardlink_to savefig imsave tofile to_csv
    to_excel to_parquet to_feather to_hdf to_stata to_orc to_xml to_pickle to_netcdf to_zarr
    write_html write_image write_csv write_parquet write_ipc savetxt savez savez_compressed
    extractall imwrite copytree copyfile writeto save_model save_pretrained save_weights dump_stats
    make_archive unpack_archive sink_parquet sink_csv sink_ipc sink_ndjson write_ndjson
    write_excel write_delta write_avro write_ndjson write_stream output_file
file-write medium path_given:
    to_json to_html to_latex to_markdown to_string
sql-write medium:
    to_sql drop_all create_all
sql-write medium sql:
    executescript executemany exec_driver_sql
cannot-be-followed medium set_own:
    __setattr__
network medium:
    urlopen urlretrieve sendall sendmail send_message download_file
network medium:
    upload_file create_connection create_server create_datagram_endpoint sock_connect
    sock_sendall sock_sendto
dynamic-code high unseen:
    exec_module load_module runcode runsource run_path
dynamic-code high unseen:
    LoadLibrary import_module run_module load_extension set_next_input loadTestsFromName
    loadTestsFromNames load_op_library import_string
dynamic-code high code:
    run_cell
dynamic-code high magic:
    run_line_magic run_cell_magic
deserialisation high:
    read_pickle unsafe_load load_pickle
privilege-change high:
    setuid setgid seteuid chown
""")

# The same for names that mean many things: only what is called counts, with its arguments.
WEAK_METHODS = rows("""
process-execution high command:
    system
file-write medium saved:
    save savemat to_file
file-write medium open_method:
    open
privilege-change high chmod:
    chmod lchmod
sql-write medium sql:
    execute sql
network medium url_given:
    get post put patch delete head request fetch goto
network medium url_given:
    download upload connect stream retrieve ws_connect
dynamic-code medium query:
    query eval
system-change medium:
    kill send_signal
unknown-import low plotted:
    plot hist
unknown-call low:
    to_clipboard
unknown-call low moved:
    rename replace
""")
