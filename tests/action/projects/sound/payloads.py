def payload_turns():
    return ["user", "assistant"]
