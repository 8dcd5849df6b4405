/** Reasons why a delivery started work or none, and what became of it. */
import type { deliveryReasons } from "../../domain/reasons/Delivery.ts"

export const deliveryTexts = {
  WriterUnnamed: "投递中没有评论的作者",
  CommandCancelled: "等待的评审已取消，运行中的已停止",
  ReportedRevisionUnknown: "revision_not_found：没有触发器的仓库有版本 {revision}，或其用户无权读取",
  ReportedChangelistUnknown: "revision_not_found：没有触发器的服务器有变更列表 {revision}，或其用户无权读取",
  HelpPosted: "已发布帮助文本"
} as const satisfies Record<keyof typeof deliveryReasons, string>
