// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keeps V8's compilers busy for as many seconds as are asked for, and until it has taken as much
// CPU time: hot functions, a function that is deoptimized again and again, and functions that are
// made at run time, whose code is collected and replaced.
'use strict';

function mix(a, b) {
    return Math.imul(a ^ b, 0x5bd1e995) >>> 0;
}

function hashString(text) {
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
        hash = mix(hash, text.charCodeAt(i));
    }
    return hash;
}

class Point {
    constructor(x, y) {
        this.x = x;
        this.y = y;
    }

    length() {
        return Math.sqrt(this.x * this.x + this.y * this.y);
    }
}

function sumOfLengths(count) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
        sum += new Point(i, i + 1).length();
    }
    return sum;
}

function fibonacci(n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// Optimized for the kind of values that it has seen, and deoptimized by the next kind.
function addAll(values) {
    let sum = values[0];
    for (let round = 0; round < 300; round++) {
        for (let i = 0; i < values.length; i++) {
            sum = values[i] + sum;
            if (sum.length > 100) {
                sum = values[0];
            }
        }
    }
    return sum;
}

const kinds = [[1, 2, 3, 4], [0.5, 1.5, 2.5, 3.5], ['a', 'b', 'c', 'd'], [1n, 2n, 3n, 4n]];

function makeFunction(number) {
    return new Function('n', `
        function generated_${number}(n) {
            let sum = ${number};
            for (let i = 0; i < n; i++) {
                sum = (sum * 1103515245 + ${number} + i) & 0x7fffffff;
            }
            return sum;
        }
        for (let i = 0; i < 60; i++) {
            n += generated_${number}(10000) & 1;
        }
        return n;`);
}

function cpuSeconds() {
    const usage = process.cpuUsage();
    return (usage.user + usage.system) / 1e6;
}

const seconds = Number(process.argv[2] || 3);
const end = Date.now() + 1000 * seconds;
let total = 0;
let number = 0;
while (Date.now() < end || cpuSeconds() < seconds) {
    total += hashString('abc'.repeat(5000) + total) + sumOfLengths(20000) + fibonacci(22);
    for (let i = 0; i < 10; i++) {
        addAll(kinds[(number >> 2) % kinds.length]);
    }
    total += makeFunction(number)(number);
    number++;
}
console.log(number);
