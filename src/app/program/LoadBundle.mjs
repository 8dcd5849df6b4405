/**
 * Loads the files of the bundle: scripts of ASCII, each a function with the parameters of CommonJS, with the code that V8 compiled of them in
 * earlier processes. The cache of Node (`enableCompileCache`) has what V8 compiles of a module when it is loaded, but none of the functions that run
 * later, which every start compiled again. Code is kept in the folder of the bundle, where that may be written: of new files two seconds after they
 * were loaded, and of all of them when the process that compiled them ends, because it has run more of their functions then. Plain JavaScript for
 * the reason that FindProgram.mjs states.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import v8 from "node:v8"
import vm from "node:vm"
import { isMainThread, threadId } from "node:worker_threads"
import { crc32 } from "node:zlib"

const keepAfterMillis = 2_000

/** Every file is read into the same memory: a start touches 16 MB less, whose pages took a twentieth of its processor time. */
let shared = Buffer.allocUnsafeSlow(1_500_000)

/**
 * Reads a file into memory that the next call overwrites.
 *
 * @type {(path: string) => Buffer}
 */
const read = (path) => {
  const file = openSync(path, "r")
  try {
    const { size } = fstatSync(file)
    if (size > shared.length) shared = Buffer.allocUnsafeSlow(size)
    let length = 0
    while (length < size) {
      const more = readSync(file, shared, length, size - length, length)
      if (more === 0) break
      length += more
    }
    return shared.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Two checksums, of the source and of the code: V8 itself compares only the length of the source. */
const headerBytes = 8

/** @type {(checksum: number, code: Buffer) => Buffer} */
const sealCode = (checksum, code) => {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32LE(checksum, 0)
  header.writeUInt32LE(crc32(code), 4)
  return Buffer.concat([header, code])
}

/** @type {(checksum: number, file: string) => Buffer | undefined} */
const readCode = (checksum, file) => {
  try {
    const bytes = read(file)
    const code = bytes.subarray(headerBytes)
    const isIntact = bytes.readUInt32LE(0) === checksum && bytes.readUInt32LE(4) === crc32(code)
    return isIntact ? code : undefined
  } catch {
    // There is none, or it is cut off.
    return undefined
  }
}

/**
 * Flags that the service sets while it runs, or that `npm start` passes, with their values. V8 refuses code that was compiled under other flags
 * than those of the process, so code is compiled without these.
 *
 * @type {Map<string, string>}
 */
const flags = new Map([
  ["--heap-growing-percent", "0"],
  ["--max-semi-space-size", "0"]
])

/** @type {(flag: string) => void} */
const noteFlag = (flag) => {
  const [name = "", value = ""] = flag.split("=")
  if (flags.has(name)) flags.set(name, value)
}

const observedV8 = {
  ...v8,
  /** @type {typeof v8.setFlagsFromString} */
  setFlagsFromString: (flag) => {
    noteFlag(flag)
    v8.setFlagsFromString(flag)
  }
}

/**
 * Threads share the flags, and only the main thread has their values: the code of a thread depends on those that it started with.
 *
 * @type {<A>(compile: () => A) => A}
 */
const withoutFlags = (compile) => {
  const set = isMainThread ? [...flags].filter(([, value]) => value !== "0") : []
  for (const [name] of set) v8.setFlagsFromString(`${name}=0`)
  try {
    return compile()
  } finally {
    for (const [name, value] of set) v8.setFlagsFromString(`${name}=${value}`)
  }
}

/**
 * Keeps the code of scripts that had none.
 *
 * @type {(folder: string) => (name: string, checksum: number, script: vm.Script) => void}
 */
const makeKeeper = (folder) => {
  /** @type {Map<string, () => Buffer>} */
  const all = new Map()
  /** @type {typeof all} */
  let added = new Map()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {(scripts: typeof all) => void} */
  const keep = (scripts) => {
    const own = join(folder, `.${process.pid}-${threadId}`)
    try {
      mkdirSync(own, { recursive: true })
      for (const [name, code] of scripts) {
        writeFileSync(join(own, name), withoutFlags(code))
        renameSync(join(own, name), join(folder, name))
      }
      rmSync(own, { recursive: true })
    } catch {
      // The installation may not be written to.
      all.clear()
    }
  }
  return (name, checksum, script) => {
    if (all.size === 0) process.once("exit", () => keep(all))
    const code = () => sealCode(checksum, script.createCachedData())
    all.set(name, code)
    added.set(name, code)
    clearTimeout(timer)
    timer = setTimeout(() => {
      keep(added)
      added = new Map()
    }, keepAfterMillis)
    timer.unref()
  }
}

export const loadBundle = (folder, entry) => {
  for (const flag of process.execArgv) noteFlag(flag)
  const codeFolder = join(
    folder,
    "code",
    withoutFlags(() => v8.cachedDataVersionTag().toString(16))
  )
  const keepLater = makeKeeper(codeFolder)
  const requireModule = createRequire(join(folder, entry))
  /** @type {Map<string, { exports: Record<string, any> }>} */
  const modules = new Map()

  /** @type {(name: string) => Record<string, any>} */
  const load = (name) => {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    modules.set(name, module)
    const filename = join(folder, name)
    const source = read(filename)
    const checksum = crc32(source)
    const text = source.latin1Slice()
    const cachedData = readCode(checksum, join(codeFolder, name))
    const script = withoutFlags(() => new vm.Script(text, { filename, cachedData }))
    if (cachedData === undefined || script.cachedDataRejected === true) keepLater(name, checksum, script)
    script.runInThisContext()(module.exports, require, module, filename, folder)
    return module.exports
  }
  /** @type {(name: string) => any} */
  const require = (name) =>
    name === "node:v8" ? observedV8 : name.startsWith("./") ? load(name.slice(2)) : requireModule(name)
  require.resolve = requireModule.resolve

  return load(entry)
}
