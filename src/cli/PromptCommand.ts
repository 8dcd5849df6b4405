/** Implements `aicr prompt show`: prints the built-in base prompt, which a workspace may replace with its own. */
import { Console } from "effect"
import { Command } from "effect/cli"
import { basePrompt } from "../domain/BasePrompt.ts"

const show = Command.make("show", {}, () => Console.log(basePrompt.trimEnd())).pipe(
  Command.withDescription("Print the built-in base prompt, as a start for prompts.system or a base_system_prompt_file"),
  Command.withExamples([{ command: "aicr prompt show > base.md", description: "Start from the built-in prompt" }])
)

export const promptCommand = Command.make("prompt").pipe(
  Command.withDescription("Print the built-in prompt"),
  Command.withSubcommands([show])
)
