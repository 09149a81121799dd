// A model server for the build's warm-up runs: in each vendor's words it calls one tool, then says "ok".
import { createServer } from "node:http";

export async function startTinyModel() {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const answer = [messages, responses, completions].find(({ path }) => request.url.endsWith(path));
      response.writeHead(answer ? 200 : 404, { "content-type": "text/event-stream" });
      response.end(answer?.body(requests++ === 0));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const completions = {
  path: "/chat/completions",
  body(isFirst) {
    const line = (delta, finish = null) => ({
      id: "1",
      object: "chat.completion.chunk",
      model: "warm",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const call = {
      index: 0,
      id: "1",
      type: "function",
      function: { name: "Shell", arguments: '{"command":"echo hi"}' },
    };
    const lines = isFirst
      ? [line({ tool_calls: [call] }), line({}, "tool_calls")]
      : [line({ content: "ok" }), line({}, "stop")];
    return `${lines.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`;
  },
};

const messages = {
  path: "/messages",
  body: () =>
    events([
      {
        type: "message_start",
        message: {
          id: "1",
          type: "message",
          role: "assistant",
          model: "warm",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    ]),
};

const responses = {
  path: "/responses",
  body: () =>
    events([
      { type: "response.created", response: { id: "1", created_at: 0, model: "warm" } },
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "1" } },
      { type: "response.output_text.delta", item_id: "1", output_index: 0, content_index: 0, delta: "ok" },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "1" } },
      {
        type: "response.completed",
        response: { usage: { input_tokens: 1, output_tokens: 1 }, incomplete_details: null },
      },
    ]),
};

function events(list) {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
