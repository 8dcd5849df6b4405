/**
 * The files of the dashboard, which src/dashboard/Build.mjs writes. They are read once, with their compressed copies, and served from memory: a
 * request selects an entry by its name and never names a file. If they are missing or older than the sources, they are built first.
 */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const root = join(import.meta.dirname, "../..")
/** The dashboard's own, the texts of every language, and the documents. */
const sources = ["src/dashboard", "src/text", "src/domain", "docs"].map((folder) => join(root, folder))
const builder = join(root, "src/dashboard/Build.mjs")
const buildTimeout = 60_000

export interface Asset {
  readonly contentType: string
  readonly plain: Uint8Array
  readonly br: Uint8Array | undefined
  readonly gzip: Uint8Array | undefined
}

export interface DashboardFiles {
  /** The page, with placeholders for the prefix and the nonce. */
  readonly page: string
  readonly assets: ReadonlyMap<string, Asset>
  /** Reads the pages of the documents by their path, such as `hosts/gitea.html`, their pictures and their style. */
  readonly documents: () => Promise<ReadonlyMap<string, Asset>>
}

const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2"
}

/** Reads the files of a folder and those below it, with their compressed copies. */
const readAssets = async (folder: string): Promise<ReadonlyMap<string, Asset>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const bytes = new Map(
    await Promise.all(
      paths.map(async (path): Promise<[string, Uint8Array]> => [path.slice(folder.length + 1), await readFile(path)])
    )
  )
  const assets = new Map<string, Asset>()
  for (const [name, plain] of bytes) {
    const contentType = contentTypes[name.slice(name.lastIndexOf(".") + 1)]
    if (contentType === undefined) continue
    assets.set(name, { contentType, plain, br: bytes.get(`${name}.br`), gzip: bytes.get(`${name}.gz`) })
  }
  return assets
}

const read = async (folder: string): Promise<DashboardFiles> => {
  const [page, assets] = await Promise.all([
    readFile(join(folder, "index.html"), "utf8"),
    readAssets(join(folder, "assets"))
  ])
  let documents: Promise<ReadonlyMap<string, Asset>> | undefined
  return { page, assets, documents: () => (documents ??= readAssets(join(folder, "docs"))) }
}

const changedAt = async (path: string): Promise<number> => (await stat(path)).mtimeMs

/** Returns whether the sources were changed after the build. Without the tools of the build there is nothing to do about it. */
const isStale = async (folder: string): Promise<boolean> => {
  if (!existsSync(builder) || !existsSync(join(root, "node_modules/vite"))) return false
  if (!existsSync(join(folder, "sources"))) return true
  const entries = await Promise.all(sources.map((source) => readdir(source, { recursive: true, withFileTypes: true })))
  const files = entries.flat().filter((entry) => entry.isFile())
  const times = await Promise.all(files.map((entry) => changedAt(join(entry.parentPath, entry.name))))
  return Math.max(...times) > (await changedAt(join(folder, "sources")))
}

/** Loads the files. Undefined: they are not built and cannot be built here; `onFailure` gets the reason of a failed build. */
export const loadDashboardFiles = async (
  onFailure: (error: unknown) => void,
  mayBuild: boolean,
  folder = join(root, "dist/dashboard")
): Promise<DashboardFiles | undefined> => {
  try {
    if (mayBuild && (await isStale(folder)))
      await promisify(execFile)(process.execPath, [builder], { timeout: buildTimeout })
  } catch (error) {
    onFailure(error)
  }
  return existsSync(join(folder, "index.html")) ? read(folder) : undefined
}
