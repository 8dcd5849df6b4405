/** Bundles TypeScript that Node would run from its sources. Plain JavaScript for the reason that Build.mjs states. */
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")

/** Packages of many small modules. Others are loaded from their own files, as they expect. */
const inlined = ["effect", "@effect/platform-node", "@effect/platform-node-shared", "undici", "uuid", "yaml"]

const isInlined = (name) => inlined.some((one) => name === one || name.startsWith(`${one}/`))

/** Entry of the threads that analyse changes, which are started while reviews wait: a bundle of its own, without what only the service uses. */
export const thread = "ChangeThread"

/** A module in the bundle still finds the files in the folder of its source, except for the bundled thread, and is not the started one. */
const keepPlaces = {
  name: "keep-places",
  transform: (code, id) => {
    if (id.includes("/node_modules/") || !code.includes("import.meta.")) return
    return code
      .replaceAll(`new URL("./${thread}.js", import.meta.url)`, `new URL("./${thread}.mjs", import.meta["url"])`)
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.filename", JSON.stringify(id))
      .replaceAll("import.meta.main", "false")
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
  }
}

/** Returns the bundler, or undefined if development dependencies are not installed. */
export const loadBundler = async () => {
  try {
    return await import("rolldown")
  } catch (error) {
    if (error?.code === "ERR_MODULE_NOT_FOUND") return undefined
    throw error
  }
}

/**
 * Writes the modules that `input` names into a folder of this installation, and returns the files that they were made from. `codeSplitting`:
 * modules that are loaded on demand become files of their own.
 */
export const bundle = async ({ rolldown }, dir, input, codeSplitting = true) => {
  const made = await rolldown({
    cwd: root,
    input,
    platform: "node",
    logLevel: "silent",
    external: (name) => !name.startsWith(".") && !name.startsWith("/") && !isInlined(name),
    plugins: [keepPlaces]
  })
  const { output } = await made.write({
    dir,
    format: "esm",
    codeSplitting,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs"
  })
  await made.close()
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))
}
