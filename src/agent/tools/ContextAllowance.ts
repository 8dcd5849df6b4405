/**
 * Limits what a run may read beyond its diff: paths, number of files and bytes. Passes with the same checkout share the
 * allowance.
 */
import { extraDefaults } from "../../config/schema/Review.ts"
import type { ReviewConfig } from "../../config/schema/Review.ts"
import { anyGlob } from "../../domain/Globs.ts"
import type { Checkout } from "../../vcs/Checkout.ts"
import type { MountedContext } from "../../vcs/ContextRepositories.ts"

/** Searches of one review, found or not: each reads through the repository. */
const maxSearches = 100

interface Used {
  bytes: number
  searches: number
  readonly paths: Set<string>
}

const usedBy = new WeakMap<Checkout, Used>()
const getUsage = (checkout: Checkout): Used => {
  const used = usedBy.get(checkout) ?? { bytes: 0, searches: 0, paths: new Set<string>() }
  usedBy.set(checkout, used)
  return used
}

/** Path in a further repository, which is identified by its alias. */
interface MountedPath {
  readonly mount: MountedContext
  readonly inside: string
}

export class ContextAllowance {
  readonly #used: Used
  readonly #maxBytes: number
  readonly #maxFiles: number
  readonly #isAllowed: ((path: string) => boolean) | undefined
  readonly #context: ReadonlyArray<MountedContext>

  constructor(checkout: Checkout, limits: ReviewConfig["fetch_extra"], context: ReadonlyArray<MountedContext>) {
    this.#used = getUsage(checkout)
    this.#maxBytes = limits.max_bytes ?? extraDefaults.max_bytes
    this.#maxFiles = limits.max_files ?? extraDefaults.max_files
    this.#isAllowed = limits.allow_paths === undefined ? undefined : anyGlob(limits.allow_paths)
    this.#context = context
  }

  /** Returns undefined for a path of the reviewed repository. */
  mounted(path: string): MountedPath | undefined {
    const colon = path.indexOf(":")
    const mount = this.#context.find(({ alias }) => alias === path.slice(0, colon))
    return mount === undefined ? undefined : { mount, inside: path.slice(colon + 1).replace(/^\.?\/|\/$/g, "") }
  }

  /** Returns why the path may not be read, as text for the model; undefined if it may be read. */
  refusal(path: string): string | undefined {
    const inside = this.mounted(path)?.inside
    if (inside !== "" && !isRepositoryPath(inside ?? path)) {
      return notRelative
    }
    if (this.#isAllowed?.(path) === false) return "refused: the configuration does not allow this path"
    if (!this.#used.paths.has(path) && this.#used.paths.size >= this.#maxFiles) {
      return `refused: the limit of ${this.#maxFiles} extra files for this review is used up`
    }
    return this.#used.bytes >= this.#maxBytes ? this.#bytesUsedUp() : undefined
  }

  /** Whether the configuration allows a path that git lists. */
  allows(path: string): boolean {
    return this.#isAllowed?.(path) !== false
  }

  /** Counts a search in a folder; returns the refusal as text for the model, or undefined. */
  takeSearch(folder: string): string | undefined {
    if (folder !== "" && !isRepositoryPath(folder)) return notRelative
    if (this.#used.bytes >= this.#maxBytes) return this.#bytesUsedUp()
    if (this.#used.searches >= maxSearches) return `refused: the limit of ${maxSearches} searches is used up`
    this.#used.searches++
    return undefined
  }

  /**
   * Returns the lines within the allowance, or the refusal. Checks and counts atomically, so that concurrent requests cannot both
   * use the last bytes.
   */
  take(path: string, lines: ReadonlyArray<string>): string {
    const refusal = this.refusal(path)
    if (refusal !== undefined) return refusal
    this.#used.paths.add(path)
    return this.takeText(lines)
  }

  /** Returns the lines within the allowance, where they belong to no single file. */
  takeText(lines: ReadonlyArray<string>): string {
    const kept: Array<string> = []
    for (const line of lines) {
      const size = Buffer.byteLength(line) + 1
      if (this.#used.bytes + size > this.#maxBytes) {
        return [...kept, "(cut: the limit of extra context is used up)"].join("\n")
      }
      this.#used.bytes += size
      kept.push(line)
    }
    return kept.join("\n")
  }

  #bytesUsedUp(): string {
    return `refused: the limit of ${this.#maxBytes} bytes of extra context is used up`
  }
}

const notRelative = "refused: the path must be relative to the repository, without . and .."

/**
 * Returns whether the path is relative, normalised and outside of git's own folder. Symbolic links are not followed, because
 * content is read from the object store.
 */
const isRepositoryPath = (path: string): boolean =>
  path.length > 0 &&
  path.length <= 1024 &&
  // oxlint-disable-next-line no-control-regex
  !/[\u0000-\u001f\\]/.test(path) &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part.toLowerCase() !== ".git")
