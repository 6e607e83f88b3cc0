"""The two passes of a reachability analysis as text for LLVM: loops over paths, grid points and lines.

A path has N intervals, each with m lines u ≤ e + f x (upper) and m lines u ≥ e + f x (lower), x the squared path
speed and u the path acceleration at the interval's beginning, and a greatest x at every grid point. `reachability`
has the same in NumPy, to be read first; tests hold the two together.
"""

TEXT = """
; least upper and greatest lower line at x, and their slopes; the next point's set [low, high] gives one line more each
define internal {double, double, double, double} @bounds(i64 %m, ptr %ue, ptr %uf, ptr %le, ptr %lf,
                                                         double %x, double %low, double %high, double %w) {
entry:
  %minus = fneg double %w
  %h = fsub double %high, %x
  %top0 = fmul double %h, %w
  %l = fsub double %low, %x
  %bottom0 = fmul double %l, %w
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %top = phi double [%top0, %entry], [%top2, %loop]
  %topslope = phi double [%minus, %entry], [%topslope2, %loop]
  %bottom = phi double [%bottom0, %entry], [%bottom2, %loop]
  %bottomslope = phi double [%minus, %entry], [%bottomslope2, %loop]
  %pue = getelementptr double, ptr %ue, i64 %k
  %puf = getelementptr double, ptr %uf, i64 %k
  %ple = getelementptr double, ptr %le, i64 %k
  %plf = getelementptr double, ptr %lf, i64 %k
  %vue = load double, ptr %pue
  %vuf = load double, ptr %puf
  %vle = load double, ptr %ple
  %vlf = load double, ptr %plf
  %ufx = fmul double %vuf, %x
  %up = fadd double %vue, %ufx
  %lfx = fmul double %vlf, %x
  %down = fadd double %vle, %lfx
  %lower = fcmp olt double %up, %top
  %top2 = select i1 %lower, double %up, double %top
  %topslope2 = select i1 %lower, double %vuf, double %topslope
  %higher = fcmp ogt double %down, %bottom
  %bottom2 = select i1 %higher, double %down, double %bottom
  %bottomslope2 = select i1 %higher, double %vlf, double %bottomslope
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %m
  br i1 %more, label %loop, label %done
done:
  %r0 = insertvalue {double, double, double, double} undef, double %top2, 0
  %r1 = insertvalue {double, double, double, double} %r0, double %topslope2, 1
  %r2 = insertvalue {double, double, double, double} %r1, double %bottom2, 2
  %r3 = insertvalue {double, double, double, double} %r2, double %bottomslope2, 3
  ret {double, double, double, double} %r3
}

; Newton on the gap between least upper and greatest lower line, which is concave: from outside it converges in as many
; steps as lines are met on the way. From the right (way = -1) to the largest x, from the left (1) to the least;
; -1 where there is none.
define internal double @edge(i64 %m, ptr %ue, ptr %uf, ptr %le, ptr %lf, double %start, double %most,
                             double %low, double %high, double %w, double %way) {
entry:
  br label %loop
loop:
  %count = phi i64 [0, %entry], [%count2, %moved]
  %x = phi double [%start, %entry], [%x2, %moved]
  %b = call {double, double, double, double} @bounds(i64 %m, ptr %ue, ptr %uf, ptr %le, ptr %lf, double %x,
                                                     double %low, double %high, double %w)
  %top = extractvalue {double, double, double, double} %b, 0
  %topslope = extractvalue {double, double, double, double} %b, 1
  %bottom = extractvalue {double, double, double, double} %b, 2
  %bottomslope = extractvalue {double, double, double, double} %b, 3
  %gap = fsub double %top, %bottom
  %atop = call double @llvm.fabs.f64(double %top)
  %abottom = call double @llvm.fabs.f64(double %bottom)
  %size = fadd double %atop, %abottom
  %slack = fmul double %size, 0xBD19000000000000   ; -1.5625 2^-46, about -2.2e-14: rounding
  %inside = fcmp oge double %gap, %slack
  br i1 %inside, label %found, label %outside
outside:
  %slope = fsub double %topslope, %bottomslope
  %toward = fmul double %slope, %way
  %climbs = fcmp ogt double %toward, 0.0
  %count2 = add i64 %count, 1
  %few = icmp slt i64 %count2, 100
  %go = and i1 %climbs, %few
  br i1 %go, label %move, label %none
move:
  %step = fdiv double %gap, %slope
  %x2 = fsub double %x, %step
  %notlow = fcmp oge double %x2, 0.0
  %nothigh = fcmp ole double %x2, %most
  %within = and i1 %notlow, %nothigh
  br i1 %within, label %moved, label %none
moved:
  %stays = fcmp oeq double %x2, %x                 ; nearer than rounding
  br i1 %stays, label %found, label %loop
found:
  ret double %x
none:
  ret double -1.0
}

; sets (paths, N + 1, 2): the last is given, the others are filled; x (paths, N + 1): the first is given;
; told (paths): 0, or 1 + the grid point whose set is empty
define void @passes(i64 %paths, i64 %N, i64 %m, ptr %ue, ptr %uf, ptr %le, ptr %lf, ptr %most, ptr %steps,
                    ptr %sets, ptr %xs, ptr %told) {
entry:
  %points = add i64 %N, 1
  %perpath = mul i64 %N, %m
  br label %path
path:
  %p = phi i64 [0, %entry], [%pnext, %pathdone]
  %line0 = mul i64 %p, %perpath
  %point0 = mul i64 %p, %points
  %step0 = mul i64 %p, %N
  br label %backward
backward:
  %ib = phi i64 [%N, %path], [%i, %keep]
  %i = sub i64 %ib, 1
  %offset = mul i64 %i, %m
  %at = add i64 %line0, %offset
  %ue1 = getelementptr double, ptr %ue, i64 %at
  %uf1 = getelementptr double, ptr %uf, i64 %at
  %le1 = getelementptr double, ptr %le, i64 %at
  %lf1 = getelementptr double, ptr %lf, i64 %at
  %here = add i64 %point0, %i
  %here2 = mul i64 %here, 2
  %plow = getelementptr double, ptr %sets, i64 %here2
  %phigh = getelementptr double, ptr %plow, i64 1
  %pnextlow = getelementptr double, ptr %plow, i64 2
  %pnexthigh = getelementptr double, ptr %plow, i64 3
  %nextlow = load double, ptr %pnextlow
  %nexthigh = load double, ptr %pnexthigh
  %pmost = getelementptr double, ptr %most, i64 %here
  %cap = load double, ptr %pmost
  %ats = add i64 %step0, %i
  %pstep = getelementptr double, ptr %steps, i64 %ats
  %step = load double, ptr %pstep
  %w = fdiv double 0.5, %step
  %largest = call double @edge(i64 %m, ptr %ue1, ptr %uf1, ptr %le1, ptr %lf1, double %cap, double %cap,
                               double %nextlow, double %nexthigh, double %w, double -1.0)
  %least = call double @edge(i64 %m, ptr %ue1, ptr %uf1, ptr %le1, ptr %lf1, double 0.0, double %cap,
                             double %nextlow, double %nexthigh, double %w, double 1.0)
  %nolargest = fcmp olt double %largest, 0.0
  %noleast = fcmp olt double %least, 0.0
  %empty = or i1 %nolargest, %noleast
  br i1 %empty, label %refuse, label %keep
keep:
  %crossed = fcmp ogt double %least, %largest
  %kept = select i1 %crossed, double %largest, double %least
  store double %kept, ptr %plow
  store double %largest, ptr %phigh
  %last = icmp eq i64 %i, 0
  br i1 %last, label %turn, label %backward
refuse:
  %ptold = getelementptr i64, ptr %told, i64 %p
  %mark = add i64 %i, 1
  store i64 %mark, ptr %ptold
  br label %pathdone
turn:
  %px0 = getelementptr double, ptr %xs, i64 %point0
  %given = load double, ptr %px0
  %first2 = mul i64 %point0, 2
  %pk0 = getelementptr double, ptr %sets, i64 %first2
  %pk1 = getelementptr double, ptr %pk0, i64 1
  %k0 = load double, ptr %pk0
  %k1 = load double, ptr %pk1
  %capk = fmul double %k1, 0x3FF0000000100000
  %toofast = fcmp ogt double %given, %capk
  %tooslow = fcmp olt double %given, %k0
  %bad = or i1 %toofast, %tooslow
  br i1 %bad, label %nostart, label %forward
nostart:
  %ptold0 = getelementptr i64, ptr %told, i64 %p
  store i64 1, ptr %ptold0
  br label %pathdone
forward:
  %j = phi i64 [0, %turn], [%jnext, %forward]
  %x = phi double [%given, %turn], [%xnew, %forward]
  %joffset = mul i64 %j, %m
  %jat = add i64 %line0, %joffset
  %jue = getelementptr double, ptr %ue, i64 %jat
  %juf = getelementptr double, ptr %uf, i64 %jat
  %jle = getelementptr double, ptr %le, i64 %jat
  %jlf = getelementptr double, ptr %lf, i64 %jat
  %jhere = add i64 %point0, %j
  %jhere2 = mul i64 %jhere, 2
  %jset = getelementptr double, ptr %sets, i64 %jhere2
  %jplow = getelementptr double, ptr %jset, i64 2
  %jphigh = getelementptr double, ptr %jset, i64 3
  %jlow = load double, ptr %jplow
  %jhigh = load double, ptr %jphigh
  %jats = add i64 %step0, %j
  %jpstep = getelementptr double, ptr %steps, i64 %jats
  %jstep = load double, ptr %jpstep
  %jw = fdiv double 0.5, %jstep
  %jb = call {double, double, double, double} @bounds(i64 %m, ptr %jue, ptr %juf, ptr %jle, ptr %jlf, double %x,
                                                      double %jlow, double %jhigh, double %jw)
  %u = extractvalue {double, double, double, double} %jb, 0
  %gain = fdiv double %u, %jw
  %reached = fadd double %x, %gain
  %above = fcmp ogt double %reached, %jhigh
  %x1 = select i1 %above, double %jhigh, double %reached
  %below = fcmp olt double %x1, %jlow
  %xnew = select i1 %below, double %jlow, double %x1
  %jnext = add i64 %j, 1
  %atnext = add i64 %jhere, 1
  %pxnext = getelementptr double, ptr %xs, i64 %atnext
  store double %xnew, ptr %pxnext
  %jmore = icmp slt i64 %jnext, %N
  br i1 %jmore, label %forward, label %pathdone
pathdone:
  %pnext = add i64 %p, 1
  %pmore = icmp slt i64 %pnext, %paths
  br i1 %pmore, label %path, label %out
out:
  ret void
}
declare double @llvm.fabs.f64(double)
"""
"""The module; its triple is the machine's own."""
