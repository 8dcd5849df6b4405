/** The system prompt of a workspace: its own base and extra documents where it names them, the built-in base otherwise. Pure. */
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { basePrompt } from "../../domain/BasePrompt.ts"
import { systemPrompt } from "../../review/Prompt.ts"
import type { ProjectRule } from "../../review/Rules.ts"
import type { Instructions } from "./Instructions.ts"

/** Texts of the repository in the prompt. */
interface ProjectText extends Pick<Instructions, "rules"> {
  readonly project?: ReadonlyArray<ProjectRule>
}

export const systemText = (
  snapshot: Snapshot,
  workspace: Workspace,
  /** Content of `prompt.base_system_prompt_file`, where it is set. */
  baseFile: string | undefined,
  instructions: ProjectText,
  /** Aliases of further repositories. */
  context: ReadonlyArray<string> = []
): string => {
  const named = (name: string | undefined) =>
    name === undefined ? undefined : withoutFrontmatter(snapshot.document.prompts.system[name] ?? "")
  const { system_prompt, extra_system_prompt } = workspace.prompt
  const base = named(system_prompt) ?? (baseFile === undefined ? undefined : withoutFrontmatter(baseFile))
  return systemPrompt({
    base: base === undefined || base.trim() === "" ? basePrompt : base,
    extra: named(extra_system_prompt),
    outputLanguage: workspace.review.output_language,
    maySkip: workspace.review.skip_lgtm,
    context,
    instructions: instructions.rules,
    rules: instructions.project
  })
}

/** Metadata between `---` lines at the top of a document is for people. */
const withoutFrontmatter = (document: string): string => document.replace(/^---\r?\n[\s\S]*?\r?\n---(\r?\n|$)/, "")
