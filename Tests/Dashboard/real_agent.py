def check_real_agent(*_): pass
