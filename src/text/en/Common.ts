/** Texts in English that every page of the dashboard may show. Those of configurations and of checks are loaded with their pages. */
import { joinTables } from "../../domain/JoinTables.ts"
import type { CommonTexts } from "../Render.ts"
import { pageTexts } from "./Pages.ts"
import { chatTexts } from "./Chat.ts"
import { checkoutTexts } from "./Checkout.ts"
import { conversationTexts } from "./Conversation.ts"
import { hostTexts } from "./Host.ts"
import { nodeTexts } from "./Node.ts"
import { noticeTexts } from "./Notice.ts"
import { originTexts } from "./Origin.ts"
import { publicationTexts } from "./Publication.ts"
import { queueTexts } from "./Queue.ts"
import { refusalTexts } from "./Refusal.ts"
import { reviewTexts } from "./Review.ts"
import { runTexts } from "./Run.ts"
import { sandboxTexts } from "./Sandbox.ts"
import { providerTexts } from "./Provider.ts"
import { statusTexts } from "./Status.ts"
import { statementTexts } from "./Statement.ts"
import { storeTexts } from "./Store.ts"
import { modelTexts } from "./Model.ts"
import { deliveryTexts } from "./Delivery.ts"

export const common: CommonTexts = {
  reasons: joinTables(
    { Text: "{text}", Unknown: "{tag}", Several: "{reasons}" },
    deliveryTexts,
    modelTexts,
    chatTexts,
    checkoutTexts,
    conversationTexts,
    hostTexts,
    nodeTexts,
    noticeTexts,
    originTexts,
    publicationTexts,
    queueTexts,
    reviewTexts,
    runTexts,
    sandboxTexts,
    providerTexts,
    statusTexts,
    statementTexts,
    storeTexts,
    refusalTexts
  ),
  keys: pageTexts,
  separators: [", ", "; "]
}
