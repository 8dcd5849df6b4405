/**
 * Entry of a thread that analyses changes. This is JavaScript, so that the compile cache of the process is enabled
 * before the first file with types is loaded: a thread that strips types needs ten times as long to start, and 50 MB
 * more.
 */
import { enableCompileCache, flushCompileCache } from "node:module"
import { workerData } from "node:worker_threads"
import { lowerPriority } from "./LowerPriority.js"

lowerPriority()

/** @type {import("./Protocol.ts").ThreadData} */
const { compileCache } = workerData
if (compileCache !== undefined) enableCompileCache(compileCache)
const loaded = import("./ThreadMain.ts")
if (compileCache !== undefined) void loaded.then(() => flushCompileCache())
