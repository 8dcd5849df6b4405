/** The supported git hosts. A kind without a row does not compile. */
import type { ForgeKind } from "../domain/Kinds.ts"
import type { Forge } from "./Forge.ts"
import { forgejo } from "./forgejo/forge.ts"
import { gitea } from "./gitea/forge.ts"
import { github } from "./github/forge.ts"
import { gitlab } from "./gitlab/forge.ts"

export const forgeTable = { gitea, forgejo, github, gitlab } satisfies Record<ForgeKind, Forge>
