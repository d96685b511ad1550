// Frames of functions of all kinds, for record.py: at the end, it prints its own stack and stops.
'use strict';
const vm = require('vm');
Error.stackTraceLimit = 100;

function stop() {
  const stack = new Error('END').stack;
  // Without it, nothing is known of the positions in functions that are not on this stack.
  require('fs').writeSync(1, stack + '\n.\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

class Base {
  constructor() {
    this.inConstructor();
  }

  inConstructor() {
    this.getter;
  }

  get getter() {
    return Base.ofClass();
  }

  static ofClass() {
    // A comment with a wide character would make the source wide: see wide.js.
    const arrow = () => withDefault();
    return [1].map(() =>
      arrow());
  }
}

function withDefault(a = 1, b = 2,
                     { c } = {}) {
  return generator().next(a, b, c);
}

function* generator() {
  yield inEval();
}

function inEval() {
  return eval('(function evaluated() {\n  return inContext();\n})()');
}

function inContext() {
  return vm.runInNewContext('function inNewContext() {\n\n  return f(); }\ninNewContext()',
                            { f: many }, { filename: '/context.js', lineOffset: 10 });
}

// More variables than V8 keeps beside the scope.
function many() {
  let v0 = 0, v1 = 0, v2 = 0, v3 = 0, v4 = 0, v5 = 0, v6 = 0, v7 = 0, v8 = 0, v9 = 0;
  let v10 = 0, v11 = 0, v12 = 0, v13 = 0, v14 = 0, v15 = 0, v16 = 0, v17 = 0, v18 = 0, v19 = 0;
  let v20 = 0, v21 = 0, v22 = 0, v23 = 0, v24 = 0, v25 = 0, v26 = 0, v27 = 0, v28 = 0, v29 = 0;
  let v30 = 0, v31 = 0, v32 = 0, v33 = 0, v34 = 0, v35 = 0, v36 = 0, v37 = 0, v38 = 0, v39 = 0;
  let v40 = 0, v41 = 0, v42 = 0, v43 = 0, v44 = 0, v45 = 0, v46 = 0, v47 = 0, v48 = 0, v49 = 0;
  let v50 = 0, v51 = 0, v52 = 0, v53 = 0, v54 = 0, v55 = 0, v56 = 0, v57 = 0, v58 = 0, v59 = 0;
  let v60 = 0, v61 = 0, v62 = 0, v63 = 0, v64 = 0, v65 = 0, v66 = 0, v67 = 0, v68 = 0, v69 = 0;
  let v70 = 0, v71 = 0, v72 = 0, v73 = 0, v74 = 0, v75 = 0, v76 = 0, v77 = 0, v78 = 0, v79 = 0;
  let v80 = 0, v81 = 0, v82 = 0, v83 = 0, v84 = 0, v85 = 0, v86 = 0, v87 = 0, v88 = 0, v89 = 0;
  const all = () => [
    v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14,
    v15, v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29,
    v30, v31, v32, v33, v34, v35, v36, v37, v38, v39, v40, v41, v42, v43, v44,
    v45, v46, v47, v48, v49, v50, v51, v52, v53, v54, v55, v56, v57, v58, v59,
    v60, v61, v62, v63, v64, v65, v66, v67, v68, v69, v70, v71, v72, v73, v74,
    v75, v76, v77, v78, v79, v80, v81, v82, v83, v84, v85, v86, v87, v88, v89,
  ].length;
  return stop(all());
}

(function () { new Base(); })();
