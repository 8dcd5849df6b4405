/** The supported git hosts. A kind without a row does not compile. */
import type { ForgeKind } from "../../domain/Kinds.ts"
import type { Forge } from "../Forge.ts"
import { forgejo } from "../forgejo/Forge.ts"
import { gitea } from "../gitea/Forge.ts"
import { github } from "../github/Forge.ts"
import { gitlab } from "../gitlab/Forge.ts"

export const forgeTable = { gitea, forgejo, github, gitlab } satisfies Record<ForgeKind, Forge>
