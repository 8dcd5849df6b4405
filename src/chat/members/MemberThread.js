/**
 * Entry of a thread that reads a member file. This is JavaScript, so that the compile cache of the process is enabled before the first file
 * with types is loaded.
 */
import { enableCompileCache, flushCompileCache } from "node:module"
import { workerData } from "node:worker_threads"

/** @type {import("./MemberParts.ts").MemberThreadData} */
const { compileCache } = workerData
if (compileCache !== undefined) enableCompileCache(compileCache)
const loaded = import("./MemberThreadMain.ts")
if (compileCache !== undefined) void loaded.then(() => flushCompileCache())
