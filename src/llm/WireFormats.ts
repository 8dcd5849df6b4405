/** The table of wire formats: one row per API that agents speak. */
import type { WireFormat } from "./WireGateway.ts"
import { decodeAnthropic, prepareAnthropic } from "./wire/AnthropicRequest.ts"
import {
  anthropicEncoder,
  anthropicError,
  anthropicErrorEvent,
  anthropicReader,
  wholeAnthropic
} from "./wire/AnthropicResponse.ts"
import { decodeChat, prepareChat } from "./wire/ChatRequest.ts"
import { chatEncoder, chatReader, wholeChat } from "./wire/ChatResponse.ts"
import { decodeGemini, prepareGemini } from "./wire/GeminiRequest.ts"
import { geminiEncoder, geminiError, geminiErrorEvent, geminiReader, wholeGemini } from "./wire/GeminiResponse.ts"
import { openAiError, openAiErrorEvent } from "./wire/OpenAiError.ts"
import { decodeResponses, prepareResponses } from "./wire/ResponsesRequest.ts"
import { responsesEncoder, responsesReader, wholeResponses } from "./wire/ResponsesResponse.ts"
import { restrictAnthropic } from "./wire/shape/AnthropicShape.ts"
import { restrictChat } from "./wire/shape/ChatShape.ts"
import { restrictGemini } from "./wire/shape/GeminiShape.ts"
import { restrictResponses } from "./wire/shape/ResponsesShape.ts"
import type { WireFormatRow } from "./WireRow.ts"

export const wireFormats = {
  "openai-chat": {
    restrict: restrictChat,
    decode: decodeChat,
    prepare: prepareChat,
    reader: chatReader,
    encoder: chatEncoder,
    whole: wholeChat,
    error: openAiError,
    errorEvent: openAiErrorEvent
  },
  "openai-responses": {
    restrict: restrictResponses,
    decode: decodeResponses,
    prepare: prepareResponses,
    reader: responsesReader,
    encoder: responsesEncoder,
    whole: wholeResponses,
    error: openAiError,
    errorEvent: openAiErrorEvent
  },
  "anthropic-messages": {
    restrict: restrictAnthropic,
    decode: decodeAnthropic,
    prepare: prepareAnthropic,
    reader: anthropicReader,
    encoder: anthropicEncoder,
    whole: wholeAnthropic,
    error: anthropicError,
    errorEvent: anthropicErrorEvent
  },
  gemini: {
    restrict: restrictGemini,
    decode: decodeGemini,
    prepare: prepareGemini,
    reader: geminiReader,
    encoder: geminiEncoder,
    whole: wholeGemini,
    error: geminiError,
    errorEvent: geminiErrorEvent
  }
} satisfies Record<WireFormat, WireFormatRow>

export const wireFormat = (format: WireFormat): WireFormatRow => wireFormats[format]
