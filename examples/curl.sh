#!/bin/sh
# Runs a shell script only if the dashboard approved it. Needs curl and python3, nothing else.
#
#     sh examples/curl.sh SCRIPT
#
# DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks. Ends with the script's
# own code if it ran, else with 90 (not approved), 95 (no answer, or one that must not be used) or
# 2 (nobody was asked, because something was missing).
set -eu
umask 077
id="" curl=""

if [ $# -ne 1 ] || [ -z "${DASHBOARD_URL:-}" ] || [ -z "${DASHBOARD_TOKEN:-}" ]; then
    echo "Usage: DASHBOARD_URL=... DASHBOARD_TOKEN=... sh examples/curl.sh SCRIPT" >&2
    echo "Nobody was asked and nothing was run." >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/reply"
cp -- "$1" "$work/script" # what is asked about is what runs, whatever becomes of the file
printf 'Authorization: Bearer %s\n' "$DASHBOARD_TOKEN" >"$work/token" # not on a command line

stop() { # CODE WORDS...
    code=$1 && shift
    echo "$* Nothing was run."
    exit "$code"
}

new_key() { python3 -c 'import uuid; print(uuid.uuid4())'; }

field() { # NAME.NAME: what stands there in the last reply, or nothing
    python3 -c 'import functools, json, sys
step = lambda value, name: value.get(name) if isinstance(value, dict) else None
try:
    found = functools.reduce(step, sys.argv[1].split("."), json.load(sys.stdin))
except ValueError:
    found = None
print("" if found is None else found)' "$1" <"$work/reply"
}

call() { # METHOD PATH [KEY]: sends $work/body; fails unless it was done
    attempt=0
    set -- "$1" "$2" "${3:-}"
    while :; do
        curl -sS --max-time 40 -o "$work/reply" -w '%{http_code}' -X "$1" \
            -H "@$work/token" -H 'Content-Type: application/json' \
            ${3:+-H "Idempotency-Key: $3"} --data-binary "@$work/body" \
            "$DASHBOARD_URL/api/v1/approvals$2" >"$work/status" 2>/dev/null &
        curl=$!
        wait "$curl" || echo 000 >"$work/status" # a signal ends the wait, and not only curl
        status=$(cat "$work/status")
        case $status in
        2??) return 0 ;;
        000 | 429 | 5??) # lost, too many, or not now: the same again, under the same key
            attempt=$((attempt + 1))
            [ "$attempt" -lt 60 ] || return 1
            sleep 1
            ;;
        *) return 1 ;;
        esac
    done
}

cancel() { # whoever stops waiting takes the question back
    trap '' INT TERM
    kill "$curl" 2>/dev/null || :
    echo '{"reason": "Nobody waits any more."}' >"$work/body"
    asked=${id:-$(field id)}
    [ -z "$asked" ] || call POST "/$asked/cancel" || :
    stop 90 "Interrupted."
}

why() { [ "$status" = 000 ] && echo "Nobody answered." || field detail; }

# Ask. The digest is of what is asked, and is compared with the answer's.
python3 - "$work" <<'PYTHON'
import hashlib, json, pathlib, sys

work = pathlib.Path(sys.argv[1])
content = {"code": (work / "script").read_bytes().decode(), "language": "sh"}
named = {"content": content, "kind": "code"}
canonical = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
digest = hashlib.sha256(b"approval-dashboard content v1\n" + canonical.encode()).hexdigest()
question = {**named, "capability": "python_execution", "time_limit_s": 600}
(work / "digest").write_text(digest)
(work / "body").write_text(json.dumps(question))
PYTHON
digest=$(cat "$work/digest")
trap cancel INT TERM
call POST "" "$(new_key)" || stop 95 "It could not be asked: $(why)"
id=$(field id)
[ "$(field digest)" = "$digest" ] || stop 95 "The dashboard understood something else."

# Wait.
echo "Asked. Waiting for a person."
: >"$work/body"
while [ "$(field status)" = pending ]; do
    call GET "/$id/wait?hold=25" || stop 95 "The wait ended: $(why)"
done

# Only this word opens, and only for this content.
[ "$(field status)" = approved ] || stop 90 "$(field status): $(field decision.reason)"
[ "$(field decision.digest)" = "$digest" ] || stop 95 "The answer is about something else."

# Start. It succeeds once; if it fails, nothing may run.
printf '{"state": "started", "digest": "%s"}' "$digest" >"$work/body"
call POST "/$id/outcome" "$(new_key)" || stop 95 "It could not be started: $(why)"
trap - INT TERM

echo "Approved. Running it."
exit_code=0
sh "$work/script" || exit_code=$?

# Finish, so that reviewers see what came of it.
printf '{"state": "finished", "digest": "%s", "exit_code": %d}' \
    "$digest" "$exit_code" >"$work/body"
call POST "/$id/outcome" "$(new_key)" || echo "The end could not be reported: $(why)"
echo "Finished with $exit_code."
exit "$exit_code"
