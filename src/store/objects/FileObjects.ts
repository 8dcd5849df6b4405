/**
 * Stores objects as files under a folder that only this user can read. Written to a temporary file and renamed, so that no reader sees a
 * partial one.
 */
import { randomBytes } from "node:crypto"
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Layer } from "effect"
import { isObjectKey, Objects } from "../Objects.ts"
import { makeFolder } from "../../database/MakeFolder.ts"
import { StoreError } from "../../database/StoreError.ts"
import { withoutPeriod } from "../../domain/Text.ts"

export const layerFiles = ({ root }: { readonly root: string }): Layer.Layer<Objects> =>
  Layer.sync(Objects, () => objectsUnder(root))

/** Creates a store. Folders are created with the first object. */
export const objectsUnder = (root: string): Objects["Service"] => {
  const at = <A>(operation: string, key: string, use: (path: string) => Promise<A>) =>
    isObjectKey(key)
      ? Effect.tryPromise({ try: () => use(join(root, key)), catch: (cause) => failed(operation, root, cause) })
      : Effect.die(new Error(`not an object key: ${key}`))
  return Objects.of({
    put: (key, content) => at("objects.put", key, (path) => write(path, content)),
    has: (key) => at("objects.has", key, async (path) => (await absent(stat(path))) !== undefined),
    get: (key, maxBytes) =>
      at("objects.get", key, async (path) => {
        const found = await absent(stat(path))
        if (found === undefined) return undefined
        if (found.size > maxBytes) throw new Error(`the object ${key} has more than ${maxBytes} bytes`)
        return absent(readFile(path, "utf8"))
      }),
    list: (prefix) =>
      at("objects.list", prefix, async (path) =>
        ((await absent(readdir(path))) ?? []).filter((name) => !name.startsWith(".")).toSorted()
      ),
    remove: (prefix) => at("objects.remove", prefix, (path) => rm(path, { recursive: true, force: true }))
  })
}

const write = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporaryPath = join(dirname(path), `.${randomBytes(8).toString("hex")}`)
  const create = () => open(temporaryPath, "wx", 0o600)
  try {
    const file = (await absent(create())) ?? (await inNewFolder(dirname(path), create))
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporaryPath, path)
  } catch (cause) {
    await rm(temporaryPath, { force: true })
    throw cause
  }
}

const inNewFolder = async <A>(folder: string, make: () => Promise<A>): Promise<A> => {
  makeFolder(folder)
  return make()
}

const absent = async <A>(reading: Promise<A>): Promise<A | undefined> => {
  try {
    return await reading
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined
    throw cause
  }
}

const failed = (operation: string, root: string, cause: unknown): StoreError =>
  new StoreError({
    reason: "unavailable",
    operation,
    why: {
      _tag: "ObjectFolderFails",
      why: withoutPeriod(cause instanceof Error ? cause.message : String(cause)),
      folder: root
    }
  })
