/** Warnings about the nodes of an installation. */
import type { nodeReasons } from "../../domain/reasons/Node.ts"

export const nodeTexts = {
  RoleUnserved: "no node has the role {role}: {role:unserved}; start one with --roles {role}",
  TemplatesRefused: "the built-in template is used in place of {names}, which cannot be rendered; aicr doctor says why",
  VersionsDiffer: "nodes run different versions of aicr; finish the upgrade or roll it back",
  ConfigurationsDiffer: "nodes have different configurations; give each node the same config.yaml"
} as const satisfies Record<keyof typeof nodeReasons, string>
