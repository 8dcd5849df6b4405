/** Renders templates of the database with an example before they are published. */
import { Layer, Result } from "effect"
import { CheckTemplate } from "../config/revisions/CheckTemplates.ts"
import { readDocument } from "../config/snapshots/Snapshots.ts"
import type { Workspace } from "../config/Snapshot.ts"
import { renderSource } from "../outputs/SampleRender.ts"

let known: Workspace | undefined

/** The workspace of the example, with the defaults of every field. */
const exampleWorkspace = (): Workspace | undefined =>
  (known ??= readDocument(
    {
      triggers: [{ name: "example", kind: "gitea" }],
      workspaces: { instances: { example: { source_repo: { trigger: "example", repo: "owner/name" } } } }
    },
    {}
  ).snapshot?.workspaces.get("example"))

/** Returns why a template cannot be rendered, as a problem or as a summary: channels may use it as either. */
const checkTemplate = (source: string): string | undefined => {
  const workspace = exampleWorkspace()
  if (workspace === undefined) return "the example cannot be made"
  for (const part of ["problem", "summary"] as const) {
    const rendered = renderSource(workspace, undefined, part, source)
    if (Result.isFailure(rendered)) return rendered.failure.message
  }
  return undefined
}

export const layer = Layer.succeed(CheckTemplate, checkTemplate)
