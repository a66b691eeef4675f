# Go with cgo: goroutines whose C part builds and frees trees, lists and strings in groups.
source "$(dirname "$0")/case.sh"
source_file=$(dirname "$0")/go-cgo/main.go
export GOCACHE=$SOAK_INPUTS/cache GOPATH=$SOAK_INPUTS/path GOFLAGS=-trimpath GOTOOLCHAIN=local CGO_ENABLED=1

prepare() { (cd "$SOAK_INPUTS" && go build -o words "$source_file"); }
train() { record "$SOAK_INPUTS/words" 1 >out; }
run() { "$SOAK_INPUTS/words" 200; }

"$1"
