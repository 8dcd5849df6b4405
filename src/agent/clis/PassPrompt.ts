/** The texts of a brief for an agent CLI, and the key that identifies a pass over several attempts. Pure. */
import { requestKey } from "../../llm/RequestKey.ts"
import type { Brief } from "../Agent.ts"
import { serverName } from "./Cli.ts"

/** The tools of the prompts have other names in an agent, and it looks for files that it does not have. */
const toolNote = `The tools that these instructions name are those of the MCP server \`${serverName}\`; their names may begin with its name. There are no other tools and no files on this machine: read the repository with these tools only.`

export const systemText = ({ system }: Pick<Brief, "system">): string => `${system}\n\n${toolNote}`

export const promptText = ({ advice, common, prompt }: Pick<Brief, "advice" | "common" | "prompt">): string =>
  [common, prompt, advice].filter((part) => part !== undefined && part !== "").join("\n\n")

/** Equal for the same pass of another attempt. */
export const passKey = (mode: string, brief: Brief): string => {
  const { system } = brief
  const messages = [{ role: "user" as const, text: promptText(brief) }]
  return requestKey(mode, { group: "", role: "heavy", system, tools: [], messages })
}
