#!/bin/sh
# Stream programs on a real GPU beside the model: sh tests/gpu/streams.sh PROGRAM OUTPUT-FOLDER
# Each row is one run. Makespan: the host's clock around the program, unrecorded; copies: the spans
# of the recorded run; the model gets the measured kernel time. Ratios are model / measured. Needs
# python3; with tmux also the timeline panel as text.
set -u
here=$(cd "$(dirname "$0")" && pwd)
PMPP=$1
out=$2
mkdir -p "$out"
python3 - "$PMPP" > "$out/streams.txt" <<'PY'
import json, subprocess, sys
MI = 1 << 20
# MiB a vector, streams, chunks, pinned, and for the last ones resident
programs = [(16, 0, 1, 0), (16, 0, 4, 1), (16, 1, 4, 1), (16, 2, 4, 1), (16, 4, 4, 1), (16, 8, 64, 1),
            (16, 4, 4, 0), (64, 0, 1, 0), (64, 0, 1, 1), (64, 4, 16, 1), (64, 8, 32, 1), (64, 4, 8, 0),
            (256, 0, 1, 0), (256, 0, 1, 1), (256, 1, 8, 1), (256, 2, 8, 1), (256, 4, 16, 1),
            (256, 8, 64, 1), (256, 16, 64, 1), (256, 4, 16, 0)]
form = '%-36s %9s %9s %9s %6s  %6s %6s  %6s %6s  %8s %9s  %s'
print(form % ('vec_add/per_element', 'makespan', 'model', 'recorded', 'ratio', 'up', 'model', 'down',
              'model', 'kernel', 'init', 'critical path'))
print(form % ('', 'us', 'us', 'us', '', 'GB/s', 'GB/s', 'GB/s', 'GB/s', 'us', 'ms', ''))
def rate(ops, engine):
    ns = sum(o['end_ns'] - o['start_ns'] for o in ops if o['engine'] == engine)
    return sum(o['bytes'] for o in ops if o['engine'] == engine) / ns if ns > 0 else 0
def off(pairs):
    e = [abs(a / b - 1) for a, b in pairs]
    return 'off by %.0f %% on average, at most %.0f %%, within 20 %%: %d of %d' % (
        100 * sum(e) / len(e), 100 * max(e), sum(x <= 0.2 for x in e), len(e))
spans, up, down = [], [], []
for mib, streams, chunks, pinned in programs:
    knobs = ['N=%d' % (mib * MI // 4), 'streams=%d' % streams, 'chunks=%d' % chunks,
             'pinned=%s' % ('yes' if pinned else 'no')]
    name = '%d MiB streams=%d chunks=%d %s' % (mib, streams, chunks, 'pinned' if pinned else 'pageable')
    try:
        done = subprocess.run([sys.argv[1], 'run', 'vec_add/per_element', *knobs, '--backend', 'cuda',
                               '--json'], capture_output=True, text=True, timeout=60)
        run = json.loads(done.stdout)
        t = run['timeline']
    except Exception as e:
        print(name, 'failed:', e, done.stderr.strip()[:200])
        continue
    if t['origin'] != 'measured':
        print(name, 'was not measured:', run['run']['note'])
        continue
    ops, model, real = t['operations'], t['model'], t['unrecorded_ns']
    spans.append((model['makespan_ns'], real))
    up.append((model['h2d_gbs'], rate(ops, 'H2D')))
    down.append((model['d2h_gbs'], rate(ops, 'D2H')))
    print(form % (name, '%.0f' % (real / 1e3), '%.0f' % (model['makespan_ns'] / 1e3),
                  '%.0f' % (t['makespan_ns'] / 1e3), '%.2f' % (model['makespan_ns'] / real),
                  '%.1f' % up[-1][1], '%.1f' % up[-1][0], '%.1f' % down[-1][1], '%.1f' % down[-1][0],
                  '%.0f' % (run['metrics']['time.kernel_ns']['value'] / 1e3),
                  '%.1f' % (t['init']['total_ns'] / 1e6), run['metrics']['stream.critical']['value'] +
                  ('' if run['verified'] else ' WRONG') + ' ' + run['run']['note']))
if spans:
    print('the model against the card: makespan', off(spans))
    print('copies up', off(up))
    print('copies down', off(down))
PY
cat "$out/streams.txt"
command -v tmux > /dev/null || exit 0
. "$here/../tty/tmux.sh"
shot() {
	sleep 0.5
	screen > "$out/tui-$1.screen"
}
start 24 80
type "$PMPP vec_add/per_element --backend cuda N=16777216 streams=4 chunks=8 pinned=yes"
check first_run see '✓ exact' 30
resize 24 80
press 5
shot streams-80x24
resize 60 200
shot streams-200x60
press q
