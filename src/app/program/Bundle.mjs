/** Bundles TypeScript that Node would run from its sources. Plain JavaScript for the reason that Build.mjs states. */
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")

/**
 * Packages that stay outside of bundles, because they load files of their own or are loaded by a path: the dependencies of package.json. All others
 * are part of bundles, and development dependencies.
 */
const outside = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies)

const isOutside = (name) => outside.some((one) => name === one || name.startsWith(`${one}/`))

/** Packages that the client of Docker loads for connections over SSH and for sessions of builds, which the program does not use. */
const unused = ["ssh2", "@grpc/grpc-js", "@grpc/proto-loader"]

const leaveOut = {
  name: "leave-out",
  resolveId: (name) => (unused.includes(name) ? `\0${name}` : undefined),
  load: (id) => (unused.includes(id.slice(1)) ? "export {}" : undefined)
}

/**
 * Node reads every export of a module of its own that is imported, and three of `node:http` load a second client of HTTP, which nothing uses: a
 * twentieth of the processor time of a start. The bundle gets the other exports from the module itself.
 */
const http = process.getBuiltinModule("node:http")
const clientOfHttp = ["WebSocket", "CloseEvent", "MessageEvent"]
const exportsOfHttp = Object.keys(http).filter((name) => !clientOfHttp.includes(name))
const leaveClientOut = {
  name: "leave-client-out",
  resolveId: (name, _, { kind }) =>
    /^(node:)?http$/.test(name) && kind === "import-statement" ? "\0node:http" : undefined,
  load: (id) =>
    id === "\0node:http"
      ? `const http = process.getBuiltinModule("node:http")\nexport default http\nexport const { ${exportsOfHttp.join(", ")} } = http`
      : undefined
}

/** A module in a bundle still finds the files in the folder of its source, and is not the started one. */
const keepPlaces = {
  name: "keep-places",
  transform: (code, id) => {
    if (id.includes("/node_modules/") || !code.includes("import.meta.")) return
    return code
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.filename", JSON.stringify(id))
      .replaceAll("import.meta.main", "false")
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
  }
}

/** Folder and URL of the running file. */
const placesOfModule = { folder: `import.meta["dirname"]`, url: `import.meta["url"]` }
const placesOfScript = {
  folder: "__dirname",
  url: `process.getBuiltinModule("node:url").pathToFileURL(__filename)`
}

/**
 * The same for a bundle that is moved together with the installation: files are found relative to `dir`. Threads, whose entries `onThread` gets, and
 * data of packages are part of the bundle.
 */
const movePlaces = (dir, running, onThread) => ({
  name: "move-places",
  transform(code, id) {
    if (id.includes("/node_modules/") || !code.includes("import.meta.")) return
    const place = (path) => JSON.stringify(relative(dir, path))
    return code
      .replaceAll(/new URL\("(\.\/(?:\w+\/)*(\w+)\.js)", import\.meta\.url\)/g, (_, path, name) => {
        onThread(name, join(dirname(id), path))
        return `new URL("./${name}.mjs", ${running.url})`
      })
      .replaceAll(/import\.meta\.resolve\("([^"]+)"\)/g, (_, name) => {
        const source = readFileSync(fileURLToPath(import.meta.resolve(name)))
        this.emitFile({ type: "asset", fileName: basename(name), source })
        return `new URL("./${basename(name)}", ${running.url}).href`
      })
      .replaceAll(
        "import.meta.dirname",
        `process.getBuiltinModule("node:path").join(${running.folder}, ${place(dirname(id))})`
      )
      .replaceAll("import.meta.main", "false")
      .replaceAll("import.meta.url", `new URL(${place(id)}, ${running.url}).href`)
  }
})

/** V8 reads a file of ASCII alone in half of the time, and keeps it in half of the memory. */
const escapeUnicode = (code) =>
  code.replaceAll(/\\[^]|[^\0-\x7f]/g, (found) => {
    // A character behind a backslash is escaped already.
    const unit = found.charCodeAt(found.length - 1)
    return unit < 128 ? found : `\\u${unit.toString(16).padStart(4, "0")}`
  })

/** A script of the form that LoadBundle.mjs runs: to add the function there would copy every script once more. */
const asFunction = (code) => `(function (exports, require, module, __filename, __dirname) {${code}\n})`

/** Returns the bundler, or undefined if development dependencies are not installed. */
export const loadBundler = async () => {
  try {
    return await import("rolldown")
  } catch (error) {
    if (error?.code === "ERR_MODULE_NOT_FOUND") return undefined
    throw error
  }
}

const write = async ({ rolldown }, dir, input, places, output) => {
  const made = await rolldown({
    cwd: root,
    input,
    platform: "node",
    logLevel: "silent",
    external: isOutside,
    plugins: [leaveOut, leaveClientOut, places]
  })
  // Without comments, a start reads a fifth less.
  const { output: files } = await made.write({ dir, comments: false, ...output })
  await made.close()
  const chunks = files.filter(({ type }) => type === "chunk")
  const finish = output.format === "cjs" ? asFunction : (code) => code
  await Promise.all(chunks.map(({ code, fileName }) => writeFile(join(dir, fileName), finish(escapeUnicode(code)))))
  return chunks
}

/** Writes a script as one file, which may be moved: it finds other files by their absolute paths in this installation. */
export const bundleScript = (bundler, dir, input) =>
  write(bundler, dir, input, keepPlaces, { format: "esm", codeSplitting: false, entryFileNames: "[name].mjs" })

/** Scripts, because V8 keeps only of these what it compiles while they run (LoadBundle.mjs). */
const scripts = { format: "cjs", entryFileNames: "[name]-[hash].cjs", chunkFileNames: "[name]-[hash].cjs" }
/** Small programs of one file. */
const modules = { format: "esm", entryFileNames: "[name].mjs" }

/** Writes the module `<name>.mjs`, which loads the script. */
const writeEntry = (dir, name, script) => {
  const loader = relative(dir, join(import.meta.dirname, "LoadBundle.mjs"))
  const load = `loadBundle(import.meta.dirname, ${JSON.stringify(script)})`
  return writeFile(
    join(dir, `${name}.mjs`),
    `import { loadBundle } from ${JSON.stringify(loader)}\nexport const { main } = ${load}\n`
  )
}

/**
 * Writes the modules that `input` names, and returns the files that they were made from. Modules that are loaded on demand become files of their
 * own. Each thread is a bundle of its own, without what only the others use. Returns the files that were written.
 */
export const bundleProgram = async (bundler, dir, input) => {
  const written = []
  const entries = new Map(Object.entries(input))
  const onThread = (name, path) => entries.set(name, path)
  // Entries of threads are added while the modules that start them are read.
  for (const [name, path] of entries) {
    const isScript = name in input || readFileSync(path, "utf8").includes("enableCompileCache")
    const places = movePlaces(dir, isScript ? placesOfScript : placesOfModule, onThread)
    const files = await write(bundler, dir, { [name]: path }, places, isScript ? scripts : modules)
    if (isScript) await writeEntry(dir, name, files.find(({ isEntry }) => isEntry).fileName)
    written.push(...files)
  }
  return written
}
