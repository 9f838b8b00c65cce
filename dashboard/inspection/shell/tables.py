"""What the commands of a shell do. Data only; what needs a look at its arguments is elsewhere."""

from __future__ import annotations

from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import Effect, doubt, names

HIGH, MEDIUM, LOW, INFO = Severity.HIGH, Severity.MEDIUM, Severity.LOW, Severity.INFO

UNKNOWN_COMMAND = Effect("unknown-call", LOW, "Runs a command whose effects are not known.")
RUNS_PROGRAM = Effect("process-execution", MEDIUM, "Runs a program that is not shown here.")
RUNS_TESTS = Effect(
    "process-execution", LOW, "Runs the tests of a project, whose code is not shown here."
)
RUNS_COMMAND = Effect("process-execution", HIGH, "Lets a program run other commands.")
WRITES_FILE = Effect("file-write", MEDIUM, "Writes a file.")
DELETES_FILES = Effect("file-delete", HIGH, "Deletes files for good.")
DELETES_FOLDERS = Effect("recursive-delete", HIGH, "Deletes folders with everything in them.")
WRITES_DISK = Effect("disk-write", HIGH, "Writes to a disk itself, past its files.")
CHANGES_SYSTEM = Effect("system-change", HIGH, "Changes how this machine runs.")
STOPS_PROCESSES = Effect("system-change", MEDIUM, "Stops processes.")
GAINS_RIGHTS = Effect("privilege-change", HIGH, "Runs with the rights of somebody else.")
CHANGES_RIGHTS = Effect("privilege-change", MEDIUM, "Changes who may use files.")
OPENS_RIGHTS = Effect("privilege-change", HIGH, "Gives rights that reach far beyond a file.")
STAYS_BEHIND = Effect("background-job", MEDIUM, "Starts something that goes on in the background.")
USES_NETWORK = Effect("network", MEDIUM, "Talks to other machines.")
INSTALLS = Effect("process-execution", MEDIUM, "Installs code from elsewhere, which may run.")
PIPES_TO_SHELL = Effect(
    "pipe-to-shell", HIGH, "Runs whatever another command prints, without anybody having read it."
)
DYNAMIC_CODE = Effect("dynamic-code", MEDIUM, "Runs text as code.")
HIDES_TRACES = Effect("system-change", MEDIUM, "Hides what was done from the shell's history.")
LOADS_CODE = Effect(
    "process-execution", HIGH, "Changes a variable that makes programs load or run other code."
)
CHANGES_PATH = Effect("process-execution", MEDIUM, "Changes which programs the names stand for.")
WRITES_CONTROL = Effect("control-system-write", HIGH, "Writes to the control system.")
READS_CONTROL = Effect("control-system-read", INFO, "Reads from the control system.")
READS_SECRETS = Effect("credentials", MEDIUM, "Touches files that usually hold credentials.")
DROPS_DATABASE = Effect("sql-drop", HIGH, "Drops a database.")
KEYWORD = doubt("parsed-in-part", "A word of the shell's grammar stands where a command does.")
NOT_INSPECTED = doubt("not-inspected", "Holds code in a language that no inspector reads.")

KEYWORDS = names("if then elif else fi for while until do done case esac select { } [[")

HARMLESS = names(
    """
    : [ [[ ls dir vdir cat tac nl head tail wc grep egrep fgrep zgrep zcat bzcat xzcat cut tr join
    comm paste column fold fmt expand unexpand rev od hexdump strings stat du df pwd echo true
    false test sleep cal whoami id groups uname arch uptime free ps who w last lastlog printenv
    basename dirname realpath readlink pathchk seq yes expr diff cmp sdiff md5sum sha1sum sha224sum
    sha256sum sha384sum sha512sum b2sum cksum sum base64 base32 basenc jq which type whereis locate
    cd pushd popd dirs shift return exit break continue wait jobs umask ulimit help times caller
    tput clear reset tty nproc lscpu lsblk lspci lsusb lsmod lsof ag numfmt factor tsort getopts
    shopt set logname users pgrep pstree getconf locale getent printf read local ncal apropos
    whatis let mapfile readarray unset md5 shasum cksum zdiff zcmp pidof top htop vmstat iostat
    mpstat nvidia-smi sw_vers colordiff wdiff look iconv hostid fg bg
    """
)

_EFFECTS: tuple[tuple[str, tuple[Effect, ...]], ...] = (
    ("unlink shred srm trash trash-put rmtrash", (DELETES_FILES,)),
    ("rmdir", (Effect("file-delete", MEDIUM, "Deletes empty folders."),)),
    (
        (
            "wipefs blkdiscard fdisk sfdisk gdisk sgdisk cfdisk parted badblocks hdparm nvme "
            "dcfldd mkswap cryptsetup flashrom diskutil"
        ),
        (WRITES_DISK,),
    ),
    (
        (
            "shutdown reboot halt poweroff init telinit kexec swapoff swapon mkinitcpio dracut "
            "update-grub grub-install efibootmgr insmod rmmod modprobe iptables ip6tables nft "
            "ufw firewall-cmd setenforce hwclock timedatectl hostnamectl chkconfig update-rc.d "
            "rc-service mount umount losetup lvremove vgremove pvremove zpool zfs btrfs mdadm "
            "newfs launchctl scutil nvram bcdedit format auditctl"
        ),
        (CHANGES_SYSTEM,),
    ),
    ("kill pkill killall killall5 xkill skill", (STOPS_PROCESSES,)),
    (
        (
            "useradd userdel usermod adduser deluser groupadd groupdel groupmod passwd chpasswd "
            "visudo vipw vigr gpasswd setcap newusers chsh chfn pkexec dscl sudoedit pwunconv "
            "newgrp"
        ),
        (OPENS_RIGHTS,),
    ),
    ("chown chgrp setfacl chattr chflags chcon", (CHANGES_RIGHTS,)),
    ("disown", (STAYS_BEHIND,)),
    ("atrm", (STAYS_BEHIND,)),
    (
        (
            "ncat netcat nc socat telnet ftp tftp sftp lftp ping ping6 traceroute tracepath mtr "
            "dig nslookup host whois nmap masscan aria2c axel http https xh mail mailx sendmail "
            "mutt openvpn wg tcpdump rclone s3cmd gsutil aws az gcloud smbclient mosh rsh rlogin "
            "rcp bore ngrok cloudflared arp-scan hping3 lynx w3m links elinks twurl websocat "
            "iperf3 gh glab heroku fly vercel netlify doctl"
        ),
        (USES_NETWORK,),
    ),
    (
        (
            "make gmake cmake ninja meson gcc g++ cc clang javac java mvn gradle ant scons bazel "
            "tox nox just rake wine qemu-system-x86_64 gdb lldb valgrind expect screen "
            "tmux dc open xdg-open start jupyter ipython streamlit gunicorn uvicorn celery "
            "invoke ansible ansible-playbook puppet chef-client salt vagrant packer ld as rustc "
            "dotnet msbuild flask run-parts anacron pylint"
        ),
        (RUNS_PROGRAM,),
    ),
    ("npx bunx pnpx uvx pipx easy_install", (USES_NETWORK, INSTALLS)),
    (
        (
            "cp touch mkdir ln install split csplit patch unzip gzip gunzip bzip2 bunzip2 xz "
            "unxz zstd unzstd 7z 7za 7zr rar unrar cpio ar mktemp mkfifo mknod ed ex vi vim nvim "
            "nano emacs pico logger rename mmv convert magick ffmpeg pandoc screencapture "
            "openssl gpg gpg2 ssh-keygen pg_dump pg_dumpall mysqldump dos2unix unix2dos indent "
            "black isort prettier autopep8 clang-format gofmt rustfmt wall write mesg "
            "chronyc pdftotext wkhtmltopdf"
        ),
        (WRITES_FILE,),
    ),
    (
        "caput caputq pvput dbpf pvcall tango_admin cavput softioc iocsh doocsput",
        (WRITES_CONTROL,),
    ),
    (
        "caget camonitor cainfo pvget pvmonitor pvinfo pvlist cavget camon casw doocsget dbgf",
        (READS_CONTROL,),
    ),
    ("dropdb mysqladmin", (DROPS_DATABASE,)),
    ("dropuser createuser", (Effect("sql-grant", HIGH, "Changes who may use a database."),)),
    ("createdb pg_restore", (Effect("sql-write", MEDIUM, "Writes to a database."),)),
    ("secret-tool keyctl pass security kinit klist ssh-add", (READS_SECRETS,)),
    ("enable bind complete compgen compopt fc", (RUNS_COMMAND,)),
    ("capsh", (GAINS_RIGHTS, RUNS_COMMAND)),
    ("start-stop-daemon", (STAYS_BEHIND, RUNS_PROGRAM)),
)
EFFECTS = {name: effects for names, effects in _EFFECTS for name in names.split()}
