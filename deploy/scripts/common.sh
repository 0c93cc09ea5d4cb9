# Shared by the scripts in this directory: their options, and how to reach the service with Docker Compose and on Kubernetes.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
namespace=${NAMESPACE:-}
is_dry_run=false
is_confirmed=false

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# Prints the comment at the top of the script.
print_help() {
  sed -n '1d; /^[^#]/q; /^# \{0,1\}/!d; s///p' "$0"
  cat <<'HELP'

Options of every script:
  -n, --namespace <name>  the namespace on Kubernetes; without it, Docker Compose. The variable NAMESPACE does the same.
      --dry-run           prints what it would change, and changes nothing
  -y, --yes               does not ask
  -h, --help              prints this help
HELP
}

# Reads the shared options, and leaves the rest in `args`: one argument, unless the script accepts `many`, or a `command` with its own
# options.
args=()
while [ $# -gt 0 ]; do
  case $1 in
    -n | --namespace) namespace=${2:?--namespace needs a value} && shift ;;
    --dry-run) is_dry_run=true ;;
    -y | --yes) is_confirmed=true ;;
    -h | --help) print_help; exit ;;
    --) shift && args+=("$@") && break ;;
    --all) args+=("$1") ;;
    -?*) fail "There is no option $1; see --help." ;;
    *)
      args+=("$1")
      if [ "${accepts:-one}" = command ]; then
        shift && args+=("$@") && break
      fi
      ;;
  esac
  shift
done
[ ${#args[@]} -le 1 ] || [ "${accepts:-one}" != one ] || fail 'There are too many arguments; quote one with spaces.'

on_kubernetes() { [ -n "$namespace" ]; }

if on_kubernetes; then
  echo "Kubernetes: context $(kubectl config current-context), namespace $namespace" >&2
else
  echo 'Docker Compose (for Kubernetes: --namespace)' >&2
fi

# Runs a command that changes something, or prints it with --dry-run.
change() {
  if $is_dry_run; then
    printf 'would run:%s\n' "$(printf ' %q' "$@" | sed -E 's|(://[^:@]*):[^@]*@|\1:***@|g')" >&2
  else
    "$@"
  fi
}

# Asks before something is destroyed.
confirm() {
  if $is_dry_run || $is_confirmed; then
    return
  fi
  local reply=''
  read -r -p "$1 Type yes to continue: " reply || true
  [ "$reply" = yes ] || fail 'Nothing was changed.'
}

kube() { kubectl --namespace "$namespace" "$@"; }
compose() { docker compose --file "$root/docker/compose.yaml" "$@"; }

# Runs a command with the settings of the replicas, outside their containers, whose memory is limited.
in_service() {
  if on_kubernetes; then
    kube exec -i deployment/petstore-tools --container petstore -- "$@"
  else
    compose run --rm --no-deps --no-TTY petstore "$@"
  fi
}
run_cli() { in_service petstore "$@" </dev/null; }

# Reads a URL by its key in the Secret; with Docker Compose, all are the one in docker/.env.
read_url() {
  if on_kubernetes; then
    kube get secret petstore --output "jsonpath={.data.$1}" | base64 --decode
  else
    local url
    url=$(read_variable DATABASE_URL)
    echo "${url:-postgres://petstore:$(read_variable POSTGRES_PASSWORD)@postgres:5432/petstore}"
  fi
}
# Docker Compose allows quotes around a value.
read_variable() { sed -E -e "/^$1=/!d" -e "s/^$1=//" -e "s/^(['\"])(.*)\1\$/\2/" "$root/docker/.env"; }
# The user, the password and the database of a URL, and a URL with another host or database.
user_of() { sed -E 's|^[^:]+://([^:@]*).*|\1|' <<<"$1"; }
password_of() { sed -nE 's|^[^:]+://[^:@]*:([^@]*)@.*|\1|p' <<<"$1"; }
database_of() { sed -E 's|^[^:]+://[^/]+/([^?]*).*|\1|' <<<"$1"; }
with_password() { sed -E "s|^([^:]+://[^:@]*)(:[^@]*)?@|\1:$(sed 's/[&|\\]/\\&/g' <<<"$2")@|" <<<"$1"; }
with_host() { sed -E "s|@[^/]+|@$2|" <<<"$1"; }
with_database() { sed -E "s|^([^:]+://[^/]+/)[^?]*|\1$2|" <<<"$1"; }

# The administrator of the database: the one in ADMIN_DATABASE_URL, or the owner of the tables.
admin_url() { echo "${ADMIN_DATABASE_URL:-$(read_url migration-database-url)}"; }

# Runs a command where the programs of PostgreSQL are.
in_postgres() {
  if on_kubernetes; then
    kube exec -i deployment/petstore-tools --container postgres -- "$@"
  else
    compose run --rm --no-deps --no-TTY tools "$@"
  fi
}
# Runs a program of PostgreSQL: run_postgres <program> <URL> [argument…]. The URL is passed on standard input, so that no log contains it.
run_postgres() {
  local program=$1 url=$2
  shift 2
  # shellcheck disable=SC2016
  { echo "$url" && cat; } | in_postgres sh -c 'read -r url; program=$1; shift; exec "$program" --dbname="$url" "$@"' sh "$program" "$@"
}
# Runs SQL from standard input.
run_sql() { run_postgres psql "${1:-$(admin_url)}" --quiet --no-psqlrc --set ON_ERROR_STOP=1 "${@:2}"; }

# The servers for redis-cli: those in ADMIN_REDIS_URL, separated by spaces, or the one that the service uses.
list_redis_urls() {
  if on_kubernetes; then
    # redis-cli does not know that a URL without a user means the user "default".
    # shellcheck disable=SC2086
    printf '%s\n' ${ADMIN_REDIS_URL:-$(read_url redis-url)} | sed -E 's|://:|://default:|'
  else
    echo redis://redis:6379
  fi
}
# Runs redis-cli on a server: run_redis <URL> [argument…]. Without arguments, it reads commands from standard input.
run_redis() {
  local url=$1
  shift
  if on_kubernetes; then
    # shellcheck disable=SC2016
    { echo "$url" && cat; } | kube exec -i deployment/petstore-tools --container redis -- sh -c '
      read -r url; [ ! -f /etc/petstore-ca/ca.pem ] || set -- --cacert /etc/petstore-ca/ca.pem "$@"; exec redis-cli -e -u "$url" "$@"' sh "$@"
  else
    compose exec -T redis redis-cli -e "$@"
  fi
}

# Sends the commands on standard input to a Redis server: send_redis <URL>. Fails if one of them fails, which redis-cli itself does not.
send_redis() {
  local commands replies
  commands=$(cat)
  [ -n "$commands" ] || return 0
  replies=$(run_redis "$1" <<<"$commands")
  if [ "$(grep -cxE 'OK|[0-9]+' <<<"$replies")" != "$(wc -l <<<"$commands")" ]; then
    echo "$replies" >&2
    return 1
  fi
}

# The names of the replicas.
list_replicas() {
  if on_kubernetes; then
    kube get pods --selector app.kubernetes.io/component=server --output 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'
  else
    compose ps --all --format '{{.Name}}' petstore
  fi
}

run_logs() {
  if on_kubernetes; then
    kube logs --selector app.kubernetes.io/component=server --prefix --ignore-errors --tail=-1 "$@"
  else
    compose logs "$@" petstore
  fi
}

stop_replicas() {
  if on_kubernetes; then
    change kube scale deployment/petstore --replicas=0
    change kube wait --for=delete pod --selector app.kubernetes.io/component=server --timeout=90s
  else
    change compose stop petstore
  fi
}
# Starts replicas that were stopped, and waits until they are ready. The autoscaler adds replicas up to its minimum.
start_replicas() {
  if on_kubernetes; then
    change kube scale deployment/petstore --replicas=2
    change kube rollout status deployment/petstore
  else
    compose_up --no-recreate
  fi
}
# Replaces the replicas, and on Kubernetes the tools, so that they read their settings again; one at a time on Kubernetes.
replace_replicas() {
  if on_kubernetes; then
    change kube rollout restart deployment/petstore deployment/petstore-tools
    change kube rollout status deployment/petstore-tools
    change kube rollout status deployment/petstore
  else
    compose_up --force-recreate
  fi
}
# Keeps the number of replicas, which `compose up` would reset.
compose_up() { change compose up --detach --wait --no-deps --scale "petstore=$(list_replicas | wc -l)" "$1" petstore; }

# Stores a URL for the replicas: set_url <key in the Secret> <URL>. Replicas read it when they start.
set_url() {
  if on_kubernetes; then
    change kube patch secret petstore --patch-file=/dev/stdin <<<"{\"stringData\":{\"$1\":\"$2\"}}"
  else
    set_variable DATABASE_URL "$2"
  fi
}

# Replaces a variable in docker/.env.
set_variable() {
  local file=$root/docker/.env
  if $is_dry_run; then
    echo "would set: $1 in docker/.env" >&2
  else
    (umask 077 && { sed "/^$1=/d" "$file" && echo "$1=$2"; } >"$file.new" && mv "$file.new" "$file")
  fi
}
