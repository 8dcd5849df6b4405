/**
 * Stores an edit as a draft while it is made: a while after the last change, one request at a time. Text that cannot be stored stays, with the reason;
 * a stored version of another tab is never overwritten without a decision. Credentials stay in the memory of the page: only the service stores them.
 */
import type { Input, Item } from "../client/Endpoints.ts"
import { Problem } from "../client/Problem.ts"

export type Draft = Item<"GET /config/drafts">
export type DraftContent = Omit<NonNullable<Input<"POST /config/drafts">["payload"]>, "copy_of">

export type SaveState =
  | { readonly _tag: "Unchanged" }
  /** A change is not stored yet. */
  | { readonly _tag: "Saving" }
  | { readonly _tag: "Saved"; readonly at: string }
  | { readonly _tag: "Failed"; readonly error: unknown }
  /** Another version was stored, or the draft was removed (`version` undefined). */
  | { readonly _tag: "Moved"; readonly version: number | undefined }

export type SaveDraft = (content: DraftContent, before: Draft | undefined, copyOf: string | undefined) => Promise<Draft>

/** The stored draft and the state of the newest change. Each change replaces it. */
export interface Stored {
  readonly draft: Draft | undefined
  readonly state: SaveState
}

export interface AutosaveOptions {
  /** Draft that is continued. */
  readonly draft?: Draft | undefined
  readonly save: SaveDraft
  readonly delayMillis?: number
  readonly retryMillis?: number
}

const isTransient = (error: unknown): boolean =>
  error instanceof Problem && (error.isUnreachable || error.status >= 500)

export class Autosave {
  #stored: Stored
  readonly #listeners = new Set<() => void>()
  #pending: DraftContent | undefined
  #copyOf: string | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  readonly #options: Required<Omit<AutosaveOptions, "draft">>

  constructor({ delayMillis = 1000, draft, retryMillis = 5000, save }: AutosaveOptions) {
    this.#stored = { draft, state: { _tag: "Unchanged" } }
    this.#options = { delayMillis, retryMillis, save }
  }

  get stored(): Stored {
    return this.#stored
  }

  /** Calls `listener` after each change; returns how to end that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Stores the content after a while, in place of an earlier one that is not stored yet. */
  change(content: DraftContent): void {
    this.#pending = content
    if (this.#stored.state._tag === "Moved") return
    this.#show({ _tag: "Saving" })
    this.#schedule(this.#options.delayMillis)
  }

  /** Stores a change immediately. Returns once nothing is pending, or the state has the reason. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    await this.#running
  }

  /** Replaces the version that another tab has stored. */
  replace(): Promise<void> {
    const { draft, state } = this.#stored
    const version = state._tag === "Moved" ? state.version : undefined
    const next = draft === undefined || version === undefined ? draft : { ...draft, version }
    this.#show({ _tag: "Saving" }, next)
    return this.flush()
  }

  /** Stores the change as another draft. */
  copy(): Promise<void> {
    this.#copyOf = this.#stored.draft?.id
    this.#stored = { draft: undefined, state: { _tag: "Saving" } }
    this.#notify()
    return this.flush()
  }

  /** Forgets what is not stored, such as when it is discarded. A request that runs is awaited. */
  async stop(): Promise<void> {
    this.#pending = undefined
    clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.flush(), delay)
  }

  #show(state: SaveState, draft = this.#stored.draft): void {
    this.#stored = { draft, state }
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }

  async #run(): Promise<void> {
    while (this.#pending !== undefined) {
      const content = this.#pending
      this.#pending = undefined
      try {
        const draft = await this.#options.save(content, this.#stored.draft, this.#copyOf)
        this.#copyOf = undefined
        this.#show({ _tag: "Saved", at: draft.updated_at }, draft)
      } catch (error) {
        this.#pending ??= content
        this.#fail(error)
        return
      }
    }
  }

  #fail(error: unknown): void {
    const code = error instanceof Problem ? error.code : ""
    if (error instanceof Problem && (code === "draft_conflict" || code === "draft_not_found")) {
      const version = error.body["version"]
      return this.#show({ _tag: "Moved", version: typeof version === "number" ? version : undefined })
    }
    this.#show({ _tag: "Failed", error })
    if (isTransient(error)) this.#schedule(this.#options.retryMillis)
  }
}
