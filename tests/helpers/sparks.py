"""Sessions of Spark for tests, classic and by Spark Connect, as small as can be."""
# ruff: noqa: S603 - the program that is run is Spark's

import contextlib
import importlib.util
import shutil
import socket
import subprocess
import time
import warnings
from pathlib import Path

import pytest

JAVA_IS_MISSING = (
    "there is no Java here, which Spark needs: install a JRE, such as default-jre-headless"
)

_QUICK_TO_START = "-XX:TieredStopAtLevel=1"  # Java works longer on fast code than that code runs
_SMALL = {
    "spark.ui.enabled": "false",
    "spark.default.parallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": f"{_QUICK_TO_START} -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
}


def spark_session():
    """One for all tests of a process."""
    if shutil.which("java") is None:
        pytest.skip(JAVA_IS_MISSING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        return SparkSession.builder.master("local[1]").config(map=_SMALL).getOrCreate()


@contextlib.contextmanager
def spark_connect_session():
    """One of a server of its own, which PySpark brings, on this machine."""
    if shutil.which("java") is None:
        pytest.skip(JAVA_IS_MISSING)
    if importlib.util.find_spec("grpc") is None:
        pytest.skip("Spark Connect needs grpcio: pip install pyspark[connect]")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with _server(port), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        yield session
        session.stop()


@contextlib.contextmanager
def _server(port):
    import pyspark

    settings = _SMALL | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    options = [f"--conf={name}={value}" for name, value in settings.items()]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    program = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = [str(program), "--master=local[1]", f"--class={kind}", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen(words, **quiet)
    try:
        while not _answers(port):
            assert server.poll() is None
            time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


def _answers(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    return False
