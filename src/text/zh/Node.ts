/** Warnings about the nodes of an installation. */
import type { nodeReasons } from "../../domain/reasons/Node.ts"

export const nodeTexts = {
  RoleUnserved: "没有节点承担角色 {role}：{role:unserved}；请用 --roles {role} 启动一个节点",
  TemplatesRefused: "模板 {names} 无法渲染，改用内置模板；原因见 aicr doctor",
  VersionsDiffer: "各节点运行的 aicr 版本不同；请完成升级或回退",
  ConfigurationsDiffer: "各节点的配置不同；请为每个节点提供相同的 config.yaml"
} as const satisfies Record<keyof typeof nodeReasons, string>
