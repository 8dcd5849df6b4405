/** Stores drafts: edits that are not published yet. They keep operations, never documents; credentials in them are sealed. */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import { ConfigOperation } from "./Operations.ts"
import type { SourceUnavailable } from "./RevisionStore.ts"

export const ConfigDraft = Schema.Struct({
  id: Schema.String,
  owner: Schema.String,
  title: Schema.String,
  reason: Schema.String,
  /** Revision that the operations were made for. */
  base: Schema.Int,
  operations: Schema.Array(ConfigOperation),
  /** Form in which the latest version was written. */
  format: Schema.Literals(["operations", "yaml"]),
  /** Everyone who saved a version. None of them can approve it. */
  editors: Schema.Array(Schema.String),
  /** Approvals of this version; every change of the draft removes them. */
  approvals: Schema.Array(Schema.Struct({ actor: Schema.String, at: Schema.Int })),
  /** 1 for a new draft, one more for each save. */
  version: Schema.Int,
  createdAt: Schema.Int,
  updatedAt: Schema.Int
})
export type ConfigDraft = typeof ConfigDraft.Type

/** Maximum number of drafts of one owner, and of all. */
export const maxDraftsPerOwner = 50
export const maxDrafts = 1000
/** Maximum size in bytes of the drafts of one owner together, and of all: a list returns them whole. */
export const maxOwnerBytes = 4 * 1024 * 1024
export const maxTotalBytes = 16 * 1024 * 1024
/** Time in milliseconds after the last change at which a draft is removed. */
export const maxDraftAge = 90 * 24 * 60 * 60 * 1000

export type SavedDraft =
  | { readonly _tag: "Saved" }
  /** Another version was saved, or the draft was removed. */
  | { readonly _tag: "Moved"; readonly current: ConfigDraft | undefined }
  | { readonly _tag: "TooMany"; readonly limit: number }
  /** The drafts of the owner, or all, would be larger than this number of bytes. */
  | { readonly _tag: "TooLarge"; readonly limit: number }

export class DraftStore extends Context.Service<
  DraftStore,
  {
    readonly get: (id: string) => Effect.Effect<ConfigDraft | undefined, SourceUnavailable>
    /** Newest first, at most `maxDrafts`. */
    readonly list: Effect.Effect<ReadonlyArray<ConfigDraft>, SourceUnavailable>
    /** Writes a draft if the stored one has the version before it; version 1 creates it. */
    readonly save: (draft: ConfigDraft) => Effect.Effect<SavedDraft, SourceUnavailable>
    /** Returns false if the draft does not have this version. */
    readonly remove: (id: string, version: number) => Effect.Effect<boolean, SourceUnavailable>
  }
>()("aicr/config/DraftStore") {}
